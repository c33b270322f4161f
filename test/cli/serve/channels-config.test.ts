// Proves that people can be asked in exactly those channels through which they can also write.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { canAsk, channelSecrets } from '../../../src/cli/setup/channels-config.ts';
import { openChannels } from '../../../src/cli/setup/open-channels.ts';

it('people can be asked in every inbound channel and in no other', async () => {
  const config = { telegram: { allow: [1] }, slack: { allow: ['U0ADA'] } };
  const env = Object.fromEntries(channelSecrets(config).map((name) => [name, '1:secret']));
  const { all, inbound } = openChannels(config, env, () => undefined);
  const asking = all.filter(({ name }) => canAsk(`${name}:1`));
  assert.deepEqual(
    asking.map(({ name }) => name),
    inbound.map(({ name }) => name),
  );
  assert.equal(inbound.length, 2);
  await Promise.all(all.map((channel) => channel.close()));
});
