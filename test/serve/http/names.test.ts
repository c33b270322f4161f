// Proves that names, labels and titles of tasks are single printable lines in the ledger, whichever way they enter: the tools of all vocabularies, the
// runtime's orders, the HTTP API, the library, and labels of workers and trees.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import fc from 'fast-check';
import {
  createScriptedModel,
  createToolRegistry,
  openCoppice,
  registerSubagentTools,
} from '../../../src/coppice.ts';
import { nameFault, visibleLine } from '../../../src/records/agent/agent-name.ts';
import { openStore } from '../../../src/store/open-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { placementOf, workerLabels } from '../../../src/trees/leaders/placement.ts';
import { setStage } from '../../runtime/stage.ts';
import { delegation, fixedModel } from '../../runtime/toolsets/delegate-play.ts';
import { quoted, slash } from '../../runtime/toolsets/slash-stage.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
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
    ['subagent_delegate', { task: name, description: name }],
  ]);
  const on = await setStage((scene) => (scene.name === 'main' && scene.step === 0 ? calls : 'done'), {
    toolsets: ['process', 'fanout', 'sessions', 'delegate', 'tasks'],
    terms: delegation({ servers: ['one'], default_server: 'one' }),
    models: { 'acp:one': fixedModel('acp:one', 'done', []) },
  });
  t.after(() => on.close());
  const { root } = await on.perform('go', { children: 300, live: 300, total: 300, depth: 3 });
  for (const name of NAMES) await on.runtime.fork(root.id, name, null).catch(() => null);
  const count = await assertLines(on.store);
  assert.ok(count > 100, String(count));
  const sources = (await on.store.runs({})).map(({ source }) => source);
  assert.deepEqual(new Set(sources), new Set(['subagent', 'delegate']));
});

it('slash, which names a child by its task', async (t) => {
  const calls = NAMES.map((name) => slash(`fork ${quoted(name)}`));
  const on = await setStage((scene) => (scene.name === 'main' && scene.step === 0 ? calls : 'done'), {
    toolsets: ['slash'],
  });
  t.after(() => on.close());
  await on.perform('go', { children: 300, live: 300, total: 300, depth: 3 });
  assert.ok((await assertLines(on.store)) > 10);
});

it('the library: names of agents, labels of calls, and names in its options', async (t) => {
  const database = `sqlite:${join(temporaryFolder(), 'ledger.db')}`;
  const registry = createToolRegistry();
  registerSubagentTools(registry);
  const script = createScriptedModel({ rules: [{ say: 'done' }] }, 'names');
  const open = (more: object = {}) =>
    openCoppice({ database, model: 'script', models: { script }, builtInTools: [], registry, ...more });
  const coppice = await open();
  t.after(() => coppice.close());
  let refused = 0;
  for (const name of NAMES) {
    await coppice.start({ prompt: 'x', name }).catch((error: Error) => {
      assert.match(error.message, /a name/);
      refused += 1;
    });
    await registry.execute({
      id: name,
      name: 'subagent_spawn',
      arguments: { task: name, description: name },
    });
  }
  assert.ok(refused > NAMES.length / 2, String(refused));
  const store = await openStore(database);
  t.after(() => store.close());
  const count = await assertLines(store);
  assert.ok(count > NAMES.length / 2, String(count));
  for (const name of NAMES.filter((one) => one !== visibleLine(one))) {
    const entry = { command: 'x' };
    for (const options of [
      { agents: { [name]: {} } },
      { acp: { [name]: entry } },
      { mcp: { servers: { [name]: entry } } },
    ])
      await assert.rejects(
        open({ ...options, registry: undefined }),
        { code: 'E_CONFIG' },
        JSON.stringify(options),
      );
  }
});

it('labels of workers, of machines and of trees', async (t) => {
  const { store } = await setStage(() => 'done').then((on) => {
    t.after(() => on.close());
    return on;
  });
  for (const name of NAMES) {
    for (const labels of [
      () => workerLabels([name], {}),
      () => workerLabels([], { COPPICE_HOST: name }),
      () => placementOf(store, { label: [name] }, {}),
    ])
      try {
        for (const label of labels()) assert.equal(label, visibleLine(label), JSON.stringify(label));
      } catch (error) {
        assert.equal((error as { code?: string }).code, 'E_INVALID_ARGUMENT', String(error));
      }
  }
  assert.deepEqual(workerLabels([' gpu, eu ,'], { COPPICE_HOST: 'a' }), ['host:a', 'gpu', 'eu']);
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
