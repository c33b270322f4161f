// Proves that names, labels and titles of tasks are one printable line in the ledger, by whichever door they come: the tools of all vocabularies, the runtime's
// orders, the HTTP API.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { nameFault, visibleLine } from '../../../src/records/agent/agent-name.ts';
import type { Store } from '../../../src/store/store.ts';
import { setStage } from '../../runtime/stage.ts';
import { setWebStage } from './web-stage.ts';

const PIECES = [
  'a',
  'Ü',
  '1',
  ' ',
  '\n',
  '\r',
  '\t',
  '\u001b[2J',
  '\u0000',
  '\u202e',
  '\u2028',
  '\u200b',
  '\u{e0041}',
  ']',
  '"',
  '\ud800',
];
const NAMES = fc.sample(
  fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 8 }).map((pieces) => pieces.join('')),
  { numRuns: 40, seed: 4 },
);

async function assertLines(store: Store): Promise<number> {
  const agents = await store.agents({});
  const runs = await store.runs({});
  const tasks = (await Promise.all(agents.map(({ id }) => store.tasks(id)))).flat();
  const names = [...agents.map(({ name }) => name), ...(await store.jobs({})).map(({ name }) => name)];
  for (const name of names) assert.equal(nameFault(name, true), null, JSON.stringify(name));
  const labels = [...agents.map(({ config }) => config.task?.label), ...runs.map(({ label }) => label)];
  const lines = [...labels.filter((label) => label != null), ...tasks.map(({ title }) => title)];
  for (const line of lines) assert.equal(line, visibleLine(line), JSON.stringify(line));
  return names.length + lines.length;
}

it('the tools of all vocabularies, and orders of people', async (t) => {
  const calls = NAMES.flatMap((name): (readonly [string, unknown])[] => [
    ['fork', { name, prompt: name }],
    ['spawn_agents', { tasks: [{ task: name, label: name }] }],
    ['sessions_spawn', { task: name, label: name }],
    ['subagent_spawn', { task: name, description: name }],
    ['task_add', { title: name }],
  ]);
  const on = await setStage((scene) => (scene.name === 'main' && scene.step === 0 ? calls : 'done'), {
    toolsets: ['process', 'fanout', 'sessions', 'delegate', 'tasks'],
  });
  t.after(() => on.close());
  const { root } = await on.perform('go', { children: 300, live: 300, total: 300, depth: 3 });
  for (const name of NAMES) await on.runtime.fork(root.id, name, null).catch(() => null);
  const count = await assertLines(on.store);
  assert.ok(count > 100, String(count));
});

it('the HTTP API', async (t) => {
  const web = await setWebStage(() => 'done');
  t.after(() => web.close());
  let refused = 0;
  const ask = async (path: string, body: object) => {
    const { status } = await web.ask(path, { method: 'POST', body });
    assert.ok(status < 500, `${path} ${JSON.stringify(body)}: ${status}`);
    if (status >= 400) refused += 1;
  };
  for (const name of NAMES) {
    await ask('/v1/trees', { prompt: 'x', name });
    await ask('/v1/jobs', { name, every: '1h', task: 'x' });
  }
  assert.ok(refused > NAMES.length, String(refused));
  await assertLines(web.stage.store);
});
