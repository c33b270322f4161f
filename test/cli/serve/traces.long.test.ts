// Proves that spans survive the death of their sender: a server is killed several times, when the collector has received a batch, before or after its
// acknowledgement; at the end each span has arrived, and repeats have the same id and the same content.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, it } from 'node:test';
import { openStore } from '../../../src/store/open-store.ts';
import { closeLater, closeOpened } from '../../close-opened.ts';
import { DEEP } from '../../house/deep.ts';
import { startCollector } from '../../serve/traces/collector.ts';
import { until } from '../../until.ts';
import { makeHome } from '../run-cli.ts';

afterEach(closeOpened);

const KILLS = DEEP ? 10 : 3;
const NOTED_MS = 300;
const RULES = {
  rules: [
    { when: { tool: 'think' }, say: 'done' },
    { when: {}, calls: [{ name: 'think', input: { thought: 'what now' } }] },
  ],
};

it(`each span once after ${KILLS} kills`, { timeout: 280_000 }, async (context) => {
  const collector = await startCollector();
  const home = makeHome();
  writeFileSync(join(home.work, 'rules.json'), JSON.stringify(RULES));
  const model = ['--model', 'scripted:rules.json'];
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
  const serve = () => home.start(['serve', '--no-listen', ...model], { env });
  const entered: string[] = [];
  const enter = async () => {
    const { stdout, stderr } = await home.run(['run', 'think', '--detach', '--json', ...model]);
    assert.ok(stdout !== '', stderr);
    entered.push((JSON.parse(stdout) as { id: string }).id);
  };
  for (let kills = 0; kills < KILLS; kills += 1) {
    const server = serve();
    closeLater(async () => void server.child.kill('SIGKILL'));
    const killed = new Promise<void>((resolve) => {
      collector.onBatch = () => {
        // Every second time the acknowledgement arrives, usually with enough time to record it.
        if (kills % 2 === 0) server.child.kill('SIGKILL');
        else setTimeout(() => server.child.kill('SIGKILL'), NOTED_MS);
        collector.onBatch = () => false;
        resolve();
        return kills % 2 === 1;
      };
    });
    await enter();
    await killed;
    await server.ended;
  }
  collector.onBatch = () => true;
  const last = serve();
  const sent = () => new Set(collector.spans.map(({ spanId }) => spanId));
  const isWhole = () =>
    entered.every((id) => {
      const of = collector.spans.filter(({ values }) => values['gen_ai.conversation.id'] === id);
      return new Set(of.map(({ spanId }) => spanId)).size >= 4;
    });
  await until(isWhole, 'all trees arrive');
  last.child.kill('SIGTERM');
  assert.equal((await last.ended).code, 0);
  const store = await openStore(home.database);
  let requests = 0;
  for (const id of entered) requests += (await store.requests(id)).length;
  await store.close();
  assert.equal(requests, 2 * entered.length);
  // Per tree: one turn, two requests, one call.
  assert.equal(sent().size, 4 * entered.length);
  const first = new Map<string, string>();
  for (const span of collector.spans) {
    const text = JSON.stringify(span);
    assert.equal(first.get(span.spanId) ?? text, text, 'the same id, the same span');
    first.set(span.spanId, text);
  }
  context.diagnostic(`${sent().size} spans, ${collector.spans.length - sent().size} of them sent twice`);
});
