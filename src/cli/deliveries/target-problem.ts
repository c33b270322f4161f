import { splitTarget } from '../../records/run/delivery.ts';
import { type ChannelsConfig, channelSecrets } from './channels-config.ts';
import { openChannels } from './open-channels.ts';

/** What is wrong with a target that a person names; null for nothing. No secret is needed to know. */
export function targetProblem(config: ChannelsConfig, target: string): string | null {
  const { channel, address } = splitTarget(target);
  const placeholders = Object.fromEntries(channelSecrets(config).map((name) => [name, 'unknown']));
  const { all } = openChannels(config, placeholders, () => undefined);
  const found = all.find(({ name }) => name === channel);
  if (found !== undefined) return found.check(address);
  if (channel === 'telegram') return 'no bot is configured: channels.telegram (docs/channels.md)';
  return `no channel "${channel}"; write telegram:CHAT, webhook:NAME, file:PATH or stdout`;
}
