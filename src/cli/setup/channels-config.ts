import { isAbsolute } from 'node:path';
import * as z from 'zod';
import { splitTarget } from '../../records/run/delivery.ts';

const NAME = z.string().regex(/^[\w.-]+$/, 'letters, digits, ".", "_" and "-" only');

const env_expected = 'must be the name of an environment variable';
const ENV = z.string(env_expected).regex(/^[A-Za-z_]\w*$/, env_expected);

const url = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' });

export const TELEGRAM_TOKEN = 'TELEGRAM_BOT_TOKEN';

/** `channels` of the configuration. Secrets are given by the name of an environment variable, never by value. */
export const channelsConfig = z.strictObject({
  telegram: z
    .strictObject({
      tokenEnv: ENV.optional(),
      /** Numeric ids of the people who may write; empty means nobody. */
      allow: z.array(z.int()).optional(),
      /** URL of a Bot API server other than Telegram's. */
      apiRoot: url.optional(),
      /** The profile, model and folder of its sessions. */
      profile: z.string().optional(),
      model: z.string().optional(),
      cwd: z.string().refine(isAbsolute, 'must be an absolute path').optional(),
    })
    .optional(),
  webhook: z.record(NAME, z.strictObject({ url, secretEnv: ENV })).optional(),
  file: z.record(NAME, z.string().refine(isAbsolute, 'must be an absolute path')).optional(),
});

export type ChannelsConfig = z.infer<typeof channelsConfig>;

/** Whether people can answer questions in the channel of a target, as in every inbound channel. */
export function canAsk(target: string): boolean {
  return splitTarget(target).channel === 'telegram';
}

/** Targets that agents may have results delivered to: only those that the user configured. */
export function agentTargets({ telegram, webhook, file }: ChannelsConfig): string[] {
  return [
    ...(telegram?.allow ?? []).map((id) => `telegram:${id}`),
    ...Object.keys(webhook ?? {}).map((name) => `webhook:${name}`),
    ...Object.keys(file ?? {}).map((name) => `file:${name}`),
  ];
}

/** Environment variables whose values are secrets of channels. */
export function channelSecrets({ telegram, webhook = {} }: ChannelsConfig): string[] {
  return [
    ...(telegram === undefined ? [] : [telegram.tokenEnv ?? TELEGRAM_TOKEN]),
    ...Object.values(webhook).map(({ secretEnv }) => secretEnv),
  ];
}
