import { isAbsolute } from 'node:path';
import * as z from 'zod';
import { splitTarget } from '../../records/run/delivery.ts';

const NAME = z.string().regex(/^[\w.-]+$/, 'letters, digits, ".", "_" and "-" only');

const env_expected = 'must be the name of an environment variable';
const ENV = z.string(env_expected).regex(/^[A-Za-z_]\w*$/, env_expected);

const url = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' });

export const TELEGRAM_TOKEN = 'TELEGRAM_BOT_TOKEN';
export const SLACK_TOKENS = { bot: 'SLACK_BOT_TOKEN', app: 'SLACK_APP_TOKEN' };

const sessions = {
  profile: z.string().optional(),
  model: z.string().optional(),
  cwd: z.string().refine(isAbsolute, 'must be an absolute path').optional(),
};

/** `channels` of the configuration. Secrets are given by the name of an environment variable, never by value. */
export const channelsConfig = z.strictObject({
  telegram: z
    .strictObject({
      tokenEnv: ENV.optional(),
      /** Numeric ids of the people who may write; empty means nobody. */
      allow: z.array(z.int()).optional(),
      /** URL of a Bot API server other than Telegram's. */
      apiRoot: url.optional(),
      ...sessions,
    })
    .optional(),
  slack: z
    .strictObject({
      botTokenEnv: ENV.optional(),
      appTokenEnv: ENV.optional(),
      /** Ids of the people who may write; empty means nobody. */
      allow: z
        .array(z.string().regex(/^[UW][A-Z0-9]{2,20}$/, 'must be the id of a person, such as U0123ABCD'))
        .optional(),
      apiRoot: url.optional(),
      ...sessions,
    })
    .optional(),
  webhook: z.record(NAME, z.strictObject({ url, secretEnv: ENV })).optional(),
  file: z.record(NAME, z.string().refine(isAbsolute, 'must be an absolute path')).optional(),
});

export type ChannelsConfig = z.infer<typeof channelsConfig>;

/** Whether people can answer questions in the channel of a target, as in every inbound channel. */
export function canAsk(target: string): boolean {
  return ['telegram', 'slack'].includes(splitTarget(target).channel);
}

/** Targets that agents may have results delivered to: only those that the user configured. */
export function agentTargets({ telegram, slack, webhook, file }: ChannelsConfig): string[] {
  return [
    ...(telegram?.allow ?? []).map((id) => `telegram:${id}`),
    ...(slack?.allow ?? []).map((id) => `slack:${id}`),
    ...Object.keys(webhook ?? {}).map((name) => `webhook:${name}`),
    ...Object.keys(file ?? {}).map((name) => `file:${name}`),
  ];
}

/** Environment variables whose values are secrets of channels. */
export function channelSecrets({ telegram, slack, webhook = {} }: ChannelsConfig): string[] {
  return [
    ...(telegram === undefined ? [] : [telegram.tokenEnv ?? TELEGRAM_TOKEN]),
    ...(slack === undefined
      ? []
      : [slack.botTokenEnv ?? SLACK_TOKENS.bot, slack.appTokenEnv ?? SLACK_TOKENS.app]),
    ...Object.values(webhook).map(({ secretEnv }) => secretEnv),
  ];
}
