// Proves that the outbox works with real channels in real time: while one webhook never answers, files, standard output and other webhooks receive theirs, and
// a stop leaves nothing open.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { openFile } from '../../src/channels/file/file-channel.ts';
import { openStdout } from '../../src/channels/stdout-channel.ts';
import { openWebhook } from '../../src/channels/webhook/webhook-channel.ts';
import { SYSTEM_CLOCK } from '../../src/processes/waiting.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { eventually } from '../tools/tool-fixture.ts';
import { outboxStage } from './outbox-stage.ts';
import { startWebhookReceiver } from './webhook-receiver.ts';

it('one webhook hangs, everything else arrives', async () => {
  const folder = temporaryFolder();
  const [stuck, fine] = [await startWebhookReceiver(), await startWebhookReceiver()];
  for (let n = 0; n < 50; n += 1) stuck.answerNext(() => undefined);
  fine.answerNext((response) => response.writeHead(503).end());
  let printed = '';
  const secret = 'a secret';
  const channels = [
    openWebhook({ stuck: { url: stuck.url, secret }, fine: { url: fine.url, secret } }),
    openFile({ log: join(folder, 'log.jsonl') }),
    openStdout((text, done) => {
      printed += text;
      setImmediate(done);
    }),
  ];
  const { ledger, enter, open } = outboxStage();
  const hung = Array.from({ length: 10 }, () => enter('webhook:stuck', { created_at: Date.now() }));
  const rest = Array.from({ length: 10 }, () =>
    ['webhook:fine', 'file:log', 'stdout'].map((target) => enter(target, { created_at: Date.now() })),
  ).flat();
  const outbox = open(channels, { clock: SYSTEM_CLOCK, grace_ms: 50, random: () => 0 });
  outbox.wake();
  const isDone = () => rest.every((id) => ledger.of(id).status === 'delivered');
  assert.ok(await eventually(isDone, 30_000), JSON.stringify(rest.map((id) => ledger.of(id))));
  assert.ok(hung.every((id) => ledger.of(id).status === 'pending'));
  await outbox.stop();
  assert.equal(ledger.claims.size, 0, 'everything was given back');
  const idsOf = (target: string) => rest.filter((id) => ledger.of(id).target === target);
  const lines = readFileSync(join(folder, 'log.jsonl'), 'utf8').trimEnd().split('\n');
  assert.deepEqual(
    lines.map((line) => (JSON.parse(line) as { id: string }).id),
    idsOf('file:log'),
  );
  assert.deepEqual(
    [...printed.matchAll(/^-- \S+ (\S+)$/gm)].map(([, id]) => id),
    idsOf('stdout'),
  );
  const posted = fine.requests.map(({ headers }) => headers['webhook-id']);
  assert.deepEqual(new Set(posted), new Set(idsOf('webhook:fine')));
  assert.equal(posted.length, 11, 'the first was refused once, and came again');
  for (const channel of channels) await channel.close();
  assert.ok(await eventually(() => stuck.connections() + fine.connections() === 0));
  await stuck.close();
  await fine.close();
});
