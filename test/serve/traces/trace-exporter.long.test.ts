// Proves that a run of several agents arrives at a collector complete, following the conventions, with correct sums and causes; that a busy collector gets
// everything later; and that another exporter continues where one stopped.
import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import { TraceExporter, type TraceExporterOptions } from '../../../src/serve/traces/trace-exporter.ts';
import { TreeTimelines } from '../../../src/trees/timeline/tree-timelines.ts';
import { closeLater, closeOpened } from '../../close-opened.ts';
import { type Play, type Stage, setStage } from '../../runtime/stage.ts';
import { until } from '../../until.ts';
import { type Collector, type Received, startCollector } from './collector.ts';

afterEach(closeOpened);

const play: Play = ({ name, step, user }) => {
  if (user === 'break') throw new Error('no answer');
  if (name.startsWith('kid'))
    return step === 0 ? [['send', { to: 'main', message: `from ${name}` }]] : `${name} done`;
  if (step === 0)
    return [
      ['fork', { name: 'kid-a', prompt: 'work' }],
      ['fork', { name: 'kid-b', prompt: 'work' }],
    ];
  return step === 1 ? [['wait', { timeout: 60, from_agents: ['kid-a', 'kid-b'] }]] : 'all done';
};

function exporterOf(stage: Stage, collector: Collector, over: Partial<TraceExporterOptions> = {}) {
  const exporter = new TraceExporter({
    store: stage.store,
    worker_id: stage.runtime.worker_id,
    timelines: new TreeTimelines(stage.store),
    endpoint: new URL('/v1/traces', collector.url),
    headers: { 'x-key': 'secret' },
    contents: false,
    version: '0',
    log: () => undefined,
    look_ms: 50,
    ...over,
  });
  exporter.start();
  closeLater(() => exporter.stop());
  return exporter;
}

const named = (spans: readonly Received[], name: string) => spans.filter((span) => span.name === name);
const turnsOf = (collector: Collector) =>
  collector.spans.filter(({ name }) => name.startsWith('invoke_agent'));

/** Waits until the exporter has recorded its starting position. */
const hasBegun = (stage: Stage) =>
  until(async () => (await stage.store.recall('traces', 'place')) !== null, 'it has begun');

it('a run of three agents: spans, parents, links, sums; each span once', async () => {
  const collector = await startCollector();
  const stage = await setStage(play, { cost_usd: 0.25 });
  const exporter = exporterOf(stage, collector);
  await hasBegun(stage);
  const { agents } = await stage.perform('begin');
  await until(() => turnsOf(collector).length >= 3, 'three turns arrive');
  await exporter.stop();
  const { spans } = collector;
  assert.equal(new Set(spans.map(({ spanId }) => spanId)).size, spans.length, 'no id twice');
  assert.equal(new Set(spans.map(({ traceId }) => traceId)).size, 1, 'one trace');
  const [main] = named(spans, 'invoke_agent main');
  const [kid] = named(spans, 'invoke_agent kid-a');
  assert.ok(main !== undefined && kid !== undefined);
  assert.equal(main.parentSpanId, undefined);
  assert.equal(kid.parentSpanId, main.spanId);
  const { id, root_id } = agents.find(({ name }) => name === 'kid-a') ?? {};
  assert.equal(kid.values['gen_ai.agent.id'], id);
  assert.equal(kid.values['gen_ai.conversation.id'], root_id);
  assert.equal(kid.values['gen_ai.operation.name'], 'invoke_agent');
  assert.equal(kid.values['gen_ai.usage.input_tokens'], undefined, 'tokens are on requests only');
  const chats = named(spans, 'chat actor');
  assert.equal(chats.length, stage.requests.length);
  assert.ok(chats.every(({ kind, values }) => kind === 3 && values['gen_ai.provider.name'] === 'play'));
  const sum = (key: string) => chats.reduce((total, { values }) => total + Number(values[key]), 0);
  const total = (key: 'input' | 'output') => agents.reduce((all, { usage }) => all + usage[key], 0);
  assert.equal(sum('gen_ai.usage.input_tokens'), total('input'));
  assert.equal(sum('gen_ai.usage.output_tokens'), total('output'));
  assert.equal(sum('coppice.cost_usd'), 0.25 * chats.length);
  for (const { values } of chats) {
    const ends = values['gen_ai.response.finish_reasons'];
    assert.ok(['stop', 'tool_call'].includes(ends[0]) && ends.length === 1, String(ends));
    assert.equal(values['gen_ai.input.messages'], undefined);
  }
  assert.equal(named(spans, 'execute_tool fork').length, 2);
  assert.equal(named(spans, 'execute_tool send').length, 2);
  assert.equal(named(spans, 'execute_tool wait').length, 1);
  assert.equal(named(spans, 'execute_tool wait')[0]?.parentSpanId, main.spanId);
  const links = main.links.map(({ spanId }) => spanId);
  const kids = spans.filter(({ name }) => /^invoke_agent kid/.test(name)).map(({ spanId }) => spanId);
  assert.deepEqual([...new Set(links)].sort(), kids.sort(), 'its letters lead to who wrote them');
  for (const { startTimeUnixNano: start, endTimeUnixNano: end, name } of spans) assert.ok(start <= end, name);
  assert.equal(collector.headers[0]?.['x-key'], 'secret');
  assert.doesNotMatch(JSON.stringify(spans), /from kid-a|all done/, 'nothing that was said');
});

it('what was said is sent only where somebody wants it', async () => {
  const collector = await startCollector();
  const stage = await setStage(play);
  const exporter = exporterOf(stage, collector, { contents: true });
  await hasBegun(stage);
  await stage.perform('begin');
  await until(() => turnsOf(collector).length >= 3, 'three turns arrive');
  await exporter.stop();
  const [sent] = named(collector.spans, 'execute_tool send');
  assert.match(String(sent?.values['gen_ai.tool.call.arguments']), /from kid-/);
  assert.match(JSON.stringify(collector.spans), /all done/);
  const chats = named(collector.spans, 'chat actor').filter(
    ({ values }) => values['gen_ai.agent.name'] === 'main',
  );
  const told = (name: string) => chats.map(({ values }) => JSON.parse(values[`gen_ai.${name}.messages`]));
  const roles = told('input').map((messages: { role: string }[]) => messages.map(({ role }) => role));
  const after = (earlier: string[], results: number) => [
    ...earlier,
    'assistant',
    ...Array.from({ length: results }, () => 'tool'),
  ];
  assert.deepEqual(roles, [['user'], after(['user'], 2), after(after(['user'], 2), 1)]);
  const [first, , last] = told('output');
  assert.deepEqual(
    first[0].parts.map(({ type, name }: Record<string, string>) => [type, name]),
    [
      ['tool_call', 'fork'],
      ['tool_call', 'fork'],
    ],
  );
  assert.deepEqual(last, [
    { role: 'assistant', parts: [{ type: 'text', content: 'all done' }], finish_reason: 'stop' },
  ]);
  const [, , whole] = told('input');
  const ids = whole.flatMap(({ parts }: { parts: Record<string, string>[] }) =>
    parts.filter(({ type }) => type !== 'text').map(({ id }) => id),
  );
  assert.equal(new Set(ids).size * 2, ids.length, 'each call has its result');
  assert.match(
    String(named(collector.spans, 'invoke_agent main')[0]?.values['gen_ai.input.messages']),
    /begin/,
  );
});

it('a failed turn says so; a busy collector gets it later; another exporter sends only what is new', async () => {
  const collector = await startCollector();
  const stage = await setStage(({ user }) => {
    if (user === 'break') throw new Error('no answer');
    return 'done';
  });
  const first = exporterOf(stage, collector);
  await hasBegun(stage);
  collector.answers.push({ status: 503 }, { status: 429, retry_after: '1' });
  await stage.perform('break');
  await until(() => turnsOf(collector).length === 1, 'it arrives in the end');
  const [failed] = turnsOf(collector);
  assert.equal(failed?.status.code, 2);
  assert.ok(String(failed?.values['error.type']).length > 0);
  await first.stop();
  // No exporter is running during this turn.
  await stage.perform('go on');
  const second = exporterOf(stage, collector);
  await until(() => turnsOf(collector).length === 2, 'the other turn arrives');
  await second.stop();
  assert.equal(new Set(collector.spans.map(({ spanId }) => spanId)).size, collector.spans.length);
});

it('what is under way when an exporter stops is noted once it is answered; nothing is sent after it', async () => {
  const collector = await startCollector();
  const stage = await setStage(() => 'done');
  const first = exporterOf(stage, collector);
  await hasBegun(stage);
  const held = Promise.withResolvers<boolean>();
  collector.onBatch = () => held.promise;
  await stage.perform('begin');
  await until(() => turnsOf(collector).length === 1, 'a batch arrives');
  const stopped = first.stop();
  await stage.perform('go on');
  held.resolve(true);
  await stopped;
  assert.equal(turnsOf(collector).length, 1);
  const second = exporterOf(stage, collector);
  await until(() => turnsOf(collector).length === 2, 'the other turn arrives');
  await second.stop();
  assert.equal(new Set(collector.spans.map(({ spanId }) => spanId)).size, collector.spans.length);
});

it('an exporter stops although the collector never answers', async () => {
  const collector = await startCollector();
  const stage = await setStage(() => 'done');
  const exporter = exporterOf(stage, collector);
  await hasBegun(stage);
  collector.onBatch = () => false;
  await stage.perform('begin');
  await until(() => turnsOf(collector).length === 1, 'a batch arrives');
  await exporter.stop();
});
