import type { Channel, ChannelLog, InboundChannel } from '../../channels/channel.ts';
import { openFile } from '../../channels/file/file-channel.ts';
import { openSlack } from '../../channels/slack/slack-channel.ts';
import { openStdout } from '../../channels/stdout-channel.ts';
import { openTelegram } from '../../channels/telegram/telegram-channel.ts';
import { openWebhook } from '../../channels/webhook/webhook-channel.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { splitTarget } from '../../records/run/delivery.ts';
import {
  type ChannelsConfig,
  canAsk,
  channelSecrets,
  SLACK_TOKENS,
  TELEGRAM_TOKEN,
} from './channels-config.ts';

export interface OpenChannels {
  /** All channels, to which results can be delivered. */
  readonly all: readonly Channel[];
  /** Channels in which people also write. */
  readonly inbound: readonly InboundChannel[];
}

/** Opens the channels of the configuration. Throws `E_CONFIG` for one whose secret is not set. */
export function openChannels(config: ChannelsConfig, env: NodeJS.ProcessEnv, log: ChannelLog): OpenChannels {
  const { telegram, slack, webhook = {}, file = {} } = config;
  const secrets = Object.entries(webhook).map(([name, { url, secretEnv }]) => [
    name,
    { url, secret: secretOf(env, secretEnv, `channels.webhook.${name}`) },
  ]);
  const inbound: InboundChannel[] = [];
  if (telegram !== undefined) {
    const { tokenEnv = TELEGRAM_TOKEN, allow = [], apiRoot } = telegram;
    const token = secretOf(env, tokenEnv, 'channels.telegram');
    inbound.push(
      openTelegram({ token, allow, log, ...(apiRoot === undefined ? {} : { api_root: apiRoot }) }),
    );
  }
  if (slack !== undefined) {
    const { botTokenEnv = SLACK_TOKENS.bot, appTokenEnv = SLACK_TOKENS.app, allow = [], apiRoot } = slack;
    const bot_token = secretOf(env, botTokenEnv, 'channels.slack');
    const app_token = secretOf(env, appTokenEnv, 'channels.slack');
    inbound.push(openSlack({ bot_token, app_token, allow, log, ...(apiRoot && { api_root: apiRoot }) }));
  }
  const all = [
    ...inbound,
    openWebhook(Object.fromEntries(secrets)),
    openFile(file),
    openStdout((text, done) => process.stdout.write(text, done)),
  ];
  return { all, inbound };
}

/** Reads a secret. Throws `E_CONFIG` if it is not set. */
export function secretOf(env: NodeJS.ProcessEnv, name: string, where: string): string {
  const secret = (env[name] ?? '').trim();
  if (secret !== '') return secret;
  throw new CoppiceError('E_CONFIG', `${where}: the environment variable ${name} is not set`, {
    hint: `Set it where coppice serve runs: export ${name}=…`,
  });
}

/** Returns what is wrong with a delivery target; null if nothing is. Needs no secrets. */
export function targetProblem(config: ChannelsConfig, target: string): string | null {
  const { channel, address } = splitTarget(target);
  const placeholders = Object.fromEntries(channelSecrets(config).map((name) => [name, 'unknown']));
  const { all } = openChannels(config, placeholders, () => undefined);
  const found = all.find(({ name }) => name === channel);
  if (found !== undefined) return found.check(address);
  if (canAsk(target)) return `no ${channel} bot is configured: channels.${channel} (docs/channels.md)`;
  return `no channel "${channel}"; write telegram:CHAT, slack:CHAT, webhook:NAME, file:PATH or stdout`;
}
