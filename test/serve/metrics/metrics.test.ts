// Proves that /metrics counts what agents, models, tools and clients do, in the Prometheus text format, without an id in any label.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { it } from 'node:test';
import { z } from 'zod';
import { METRICS } from '../../../src/serve/metrics/metrics.ts';
import { defineTool } from '../../../src/tools/define-tool.ts';
import type { Play } from '../../runtime/stage.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { until } from '../../until.ts';
import { setWebStage, type WebStage } from '../http/web-stage.ts';
import { followNew } from '../stream/event-stage.ts';

const note = defineTool({
  name: 'note',
  description: 'Notes a text.',
  input: z.object({ text: z.string() }),
  subject: ({ text }) => text,
  run: ({ text }) => {
    if (text === 'bad') throw new Error('no such note');
    return `noted ${text}`;
  },
});

const ASKS = {
  cli: { allow: ['note:good', 'note:bad'], ask: ['note:ask*'], deny: [] },
  config: { allow: [], ask: [], deny: [] },
};

const play: Play = ({ user, last }) => {
  if (last.length > 0) return 'done';
  if (user.includes('ask')) return [['note', { text: 'ask me' }]];
  if (user.includes('note'))
    return [
      ['note', { text: 'good' }],
      ['note', { text: 'bad' }],
    ];
  return 'done';
};

const LINE =
  /^[a-z_]+(?:\{[a-z_]+="(?:[^"\\\n]|\\["\\n])*"(?:,[a-z_]+="(?:[^"\\\n]|\\["\\n])*")*\})? -?[\d.e+-]+$/;

/** Returns each sample by name and labels; fails on lines that Prometheus would reject. */
async function scrape(web: WebStage): Promise<ReadonlyMap<string, number>> {
  const { status, text, headers } = await web.ask('/metrics', { token: 'read' });
  assert.equal(status, 200, text);
  assert.equal(headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8');
  const samples = new Map<string, number>();
  const typed = new Set<string>();
  for (const line of text.split('\n').slice(0, -1)) {
    const [, name = ''] = /^# TYPE (\w+) (?:gauge|counter|summary)$/.exec(line) ?? [];
    if (name !== '') typed.add(name);
    if (line.startsWith('#')) continue;
    assert.match(line, LINE);
    const at = line.lastIndexOf(' ');
    assert.ok(typed.has(line.slice(0, at).replace(/\{.*/, '')), `typed before: ${line}`);
    assert.ok(!samples.has(line.slice(0, at)), `once: ${line}`);
    samples.set(line.slice(0, at), Number(line.slice(at + 1)));
  }
  assert.deepEqual([...typed], Object.keys(METRICS));
  assert.doesNotMatch(text, /[0-9a-f]{8}-[0-9a-f]{4}/, 'no ids');
  return samples;
}

it('a run is counted by model, tool, status, need and route; a repeated look counts nothing twice', async () => {
  const web = await setWebStage(play, { tools: [note], config: { permissions: ASKS } });
  await scrape(web);
  await web.stage.perform('note two');
  const asked = await web.stage.start('ask');
  await until(async () => (await web.stage.store.asks({ open: true })).length === 1, 'it asks');
  await web.ask(`/v1/agents/${asked.id}`);
  await web.ask('/v1/no/such/path');
  await web.ask('/v1/trees', { token: null });
  const follower = await followNew(web);
  for (let look = 0; look < 2; look += 1) {
    const samples = await scrape(web);
    const value = (name: string) => samples.get(name) ?? 0;
    assert.equal(value('coppice_model_requests_total{model="play/actor"}'), 3);
    assert.ok(value('coppice_model_tokens_total{model="play/actor",kind="input"}') > 0);
    assert.equal(value('coppice_tool_calls_total{name="note",status="ok"}'), 1);
    assert.equal(value('coppice_tool_calls_total{name="note",status="error"}'), 1);
    assert.equal(value('coppice_approvals_waiting'), 1);
    assert.ok(value('coppice_approvals_oldest_seconds') >= 0);
    assert.equal(value('coppice_trees{need="approval"}'), 1);
    assert.equal(value('coppice_trees{need="done"}'), 1);
    assert.equal(value('coppice_agents{status="executing"}'), 1);
    assert.equal(value('coppice_workers{role="run"}'), 1);
    assert.equal(
      value('coppice_http_requests_total{route="/v1/agents/:agent",method="GET",status="200"}'),
      1,
    );
    assert.equal(value('coppice_http_requests_total{route="none",method="GET",status="404"}'), 1);
    assert.equal(value('coppice_http_requests_total{route="/v1/trees",method="GET",status="401"}'), 1);
    assert.equal(value('coppice_stream_clients'), 1);
    assert.ok(value('process_resident_memory_bytes') > 1e6);
  }
  follower.leave();
  await web.close();
});

it('all requests since the last look are counted, however many they are', async () => {
  const database = join(temporaryFolder(), 'ledger.db');
  const web = await setWebStage(play, { database });
  const { id } = await web.stage.start();
  await web.stage.runtime.settled(id);
  const name = 'coppice_model_requests_total{model="play/actor"}';
  const before = (await scrape(web)).get(name) ?? 0;
  const beside = new DatabaseSync(database);
  beside.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3500)
    INSERT INTO requests (agent_id, model, input_tokens, output_tokens, cached_tokens, reasoning_tokens, cost_usd, started_at, duration_ms)
    SELECT '${id}', 'play/actor', 1, 1, 0, 0, NULL, i, 1 FROM n`);
  beside.close();
  assert.equal((await scrape(web)).get(name), before + 3_500);
  await web.close();
});

it('without a token nothing is told; names that a model makes up are counted under one label in the end', async () => {
  const names = Array.from({ length: 250 }, (_, n) => [`made_up_${n}`, {}] as const);
  const web = await setWebStage(({ last }) => (last.length > 0 ? 'done' : names));
  assert.equal((await web.ask('/metrics', { token: null })).status, 401);
  await web.stage.perform('go');
  const samples = await scrape(web);
  const tools = [...samples.keys()].filter((name) => name.startsWith('coppice_tool_calls_total'));
  assert.ok(tools.length <= 201, `${tools.length}`);
  assert.equal(samples.get('coppice_tool_calls_total{name="other",status="other"}'), 50);
  await web.close();
});
