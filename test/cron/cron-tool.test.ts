// Proves that the agents' cron tool offers the same actions as the commands for people, on the jobs of its own tree, within the agent's own permissions.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { afterEach, it } from 'node:test';
import { createCronTool } from '../../src/cron/cron-tool.ts';
import { DEFAULT_TERMS } from '../../src/kernel/toolsets/toolset-terms.ts';
import type { CronJob } from '../../src/records/run/cron-job.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { type Stage, type StageOptions, setStage } from '../runtime/stage.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { enter, jobOf } from './cron-stage.ts';

type Input = Readonly<Record<string, unknown>>;

const folder = temporaryFolder();
/** Models that were opened. */
const opened: string[] = [];
let databases = 0;
let stage: Stage | null = null;
let folder_store: Store | null = null;

afterEach(async () => {
  await stage?.close();
  await folder_store?.close();
  stage = null;
  folder_store = null;
});

/** Runs one agent that makes these calls in order; resolves to their outputs. */
async function calls(
  inputs: readonly Input[],
  options: StageOptions = {},
  prepare?: (database: string) => Promise<void>,
): Promise<string[]> {
  // The tool is created before the stage opens its own store; both stores use the same database file.
  databases += 1;
  const database = `sqlite:${join(folder, `${databases}.db`)}`;
  folder_store = await openStore(database);
  await prepare?.(database);
  const tool = createCronTool({
    is_served: true,
    canAsk: () => false,
    store: folder_store,
    default_tz: 'Europe/Berlin',
    terms: { ...DEFAULT_TERMS, deliver_to: ['telegram:42', 'webhook:ops'] },
    checkModel: async (name) => {
      opened.push(name);
      if (name.startsWith('no/')) throw new Error(`no model ${name}`);
    },
  });
  stage = await setStage(
    (scene) => {
      const input = inputs[scene.step];
      return input === undefined ? 'done' : [['cron', input]];
    },
    { database, tools: [tool], toolsets: ['sessions'], ...options },
  );
  const { root } = await stage.perform();
  return (await stage.results(root)).map((result) => result.output);
}

async function jobs(): Promise<CronJob[]> {
  return (await stage?.store.jobs()) ?? [];
}

const add = (name: string, more: Input = {}): Input => ({
  action: 'add',
  name,
  every: '10m',
  task: 'look around',
  ...more,
});

it('reads words of other programs, and says when nobody hears of a result', async () => {
  const [kept, told, deleted, soon, often] = await calls([
    { action: 'create', title: 'once', in: '1 minute', message: 'look' },
    { action: 'schedule', job_name: 'tea', delay: 'in an hour', prompt: 'tea is ready', session: 'main' },
    { action: 'delete', name: 'once' },
    { action: 'add', name: 'soon', schedule: 'in 1 minute', task: 'x' },
    { action: 'add', name: 'often', cron: 'every 10m', task: 'x' },
  ]);
  assert.match(soon ?? '', /"name": "soon",\s+"schedule": "(?!every)/);
  assert.match(often ?? '', /"schedule": "every 10m"/);
  assert.match(kept ?? '', /"name": "once",.*"task": "look",.*Nobody is told/s);
  assert.match(told ?? '', /"name": "tea",.*"session": "main"/s);
  assert.doesNotMatch(told ?? '', /Nobody is told/);
  assert.match(deleted ?? '', /"removed"/);
});

it('reads a job whose fields stand together in one object, in any that other programs have', async () => {
  const fields = { name: 'a', every: '10m', task: 'look' };
  const nested = [
    { action: 'add', job: { ...fields, name: 'b' } },
    { action: 'add', cron: { ...fields, name: 'c' } },
    { cron: { action: 'add', ...fields, name: 'd' } },
    { action: 'add', name: 'e', task: 'look', schedule: { every: '10m' } },
    {
      action: 'add',
      job: {
        name: 'f',
        enabled: true,
        schedule: { kind: 'cron', expr: '0 9 * * *', tz: 'Asia/Tokyo' },
        sessionTarget: 'isolated',
        wakeMode: 'now',
        payload: { kind: 'agentTurn', message: 'look' },
      },
    },
    {
      action: 'add',
      job: {
        name: 'g',
        schedule: { kind: 'every', everyMs: 120_000 },
        payload: { kind: 'systemEvent', text: 'look' },
        sessionTarget: 'main',
      },
    },
    {
      action: 'add',
      job: { name: 'h', schedule: { kind: 'at', atMs: Date.UTC(2040, 0, 1) }, payload: { text: 'look' } },
      deleteAfterRun: true,
    },
    // As models write it whose server asks for each field.
    {
      ...{ action: 'add', name: 'i', every: '10m', task: 'look' },
      ...{ cron: '', at: '', tz: '', model: null },
    },
    { action: 'add', job: { ...fields, name: 'j', colour: 'red' } },
  ];
  const results = await calls(nested);
  assert.deepEqual(
    results.map((text) => /"name": "(\w)",\s+"schedule": "(.*?)"/.exec(text)?.slice(1).join(' ')),
    [
      ...['b every 10m', 'c every 10m', 'd every 10m', 'e every 10m', 'f 0 9 * * * Asia/Tokyo'],
      ...['g every 2m', 'h at 2040-01-01 01:00 Europe/Berlin', 'i every 10m', undefined],
    ],
  );
  // A field that nobody knows may mean something: nothing is guessed.
  assert.match(results[8] ?? '', /"job": not known/);
  assert.equal((await jobs()).length, 8);
});

it('calls a job without a name like its task, and takes a time and a session in other words', async () => {
  const [added, again] = await calls([
    { action: 'add', task: 'Look at the build', at: 'now + 20 minutes', session: 'current' },
    { action: 'add', task: 'Look at the build', at: '20 minutes from now' },
  ]);
  assert.match(added ?? '', /"name": "look-at-the-build",.*"session": "main"/s);
  assert.match(again ?? '', /look-at-the-build.*exists/);
});

it('adds, lists, shows, changes, runs and removes, each with what it came to', async () => {
  const [added, listed, shown, changed, started, runs, off, on, removed, empty] = await calls([
    add('watch', { deliver: ['telegram:42', 'telegram:42'], timeoutSeconds: 60, thinking: 'low' }),
    { action: 'list' },
    { action: 'show', name: 'watch' },
    { action: 'update', name: 'watch', cron: '0 9 * * 1-5', tz: 'Asia/Tokyo', overlap: 'queue' },
    { action: 'run', name: 'watch' },
    { action: 'runs', name: 'watch' },
    { action: 'disable', name: 'watch' },
    { action: 'enable', name: 'watch' },
    { action: 'remove', name: 'watch' },
    { action: 'list' },
  ]);
  const read = (text: string | undefined) => JSON.parse(text ?? 'null');
  assert.equal(read(added).schedule, 'every 10m');
  assert.deepEqual(
    [read(added).deliver, read(added).timeoutSeconds, read(added).thinking],
    [['telegram:42'], 60, 'low'],
  );
  assert.deepEqual(
    read(listed).jobs.map((job: { name: string }) => job.name),
    ['watch'],
  );
  assert.deepEqual(read(shown), read(added));
  assert.deepEqual([read(changed).schedule, read(changed).overlap], ['0 9 * * 1-5 Asia/Tokyo', 'queue']);
  assert.deepEqual(
    [read(started).status, read(started).see],
    ['queued', 'cron {"action":"runs","name":"watch"}'],
  );
  assert.deepEqual(
    read(runs).runs.map((run: { status: string; manual: boolean }) => [run.status, run.manual]),
    [['queued', true]],
  );
  assert.deepEqual([read(off).enabled, read(off).next], [false, null]);
  assert.equal(read(on).enabled, true);
  assert.deepEqual(read(removed), { status: 'removed', name: 'watch' });
  assert.deepEqual(read(empty).jobs, []);
  const unserved = /^Nothing runs jobs now, since no server works\. Tell the user to start coppice serve/;
  for (const one of [added, listed, shown, changed, started, runs, on])
    assert.match(read(one).note, unserved);
});

it('while a server works, nothing is said of one', async () => {
  const inputs = [add('watch', { at: undefined }), { action: 'run', name: 'watch' }];
  const served = async (database: string) => {
    const store = await openStore(database);
    await store.heartbeat({ id: 'another', host: 'elsewhere', pid: 1, role: 'serve' });
    await store.close();
  };
  for (const output of await calls(inputs, {}, served)) assert.doesNotMatch(output, /Nothing runs|serve/);
});

it('an error names calls that the model can make, never a command line', async () => {
  const outputs = await calls([
    add('watch', { overlap: 'skip' }),
    add('watch'),
    { action: 'show', name: 'none' },
    { action: 'run', name: 'watch' },
    { action: 'run', name: 'watch' },
    add('a', { task: '' }),
    add('a', { every: undefined, cron: '0 9 * * *', tz: 'Mars/Base' }),
    add('once', { every: undefined, at: '+1s' }),
    { action: 'update', name: 'watch', tz: 'Europe/Berlin' },
    { action: 'update', name: 'watch', session: 'main', timeoutSeconds: 5 },
  ]);
  const errors = outputs.filter((output) => /\(E_/.test(output));
  assert.equal(errors.length, 7, errors.join('\n'));
  for (const error of errors) assert.doesNotMatch(error, /coppice|--/);
  assert.match(errors[0] ?? '', /Change it with cron \{"action":"update"\}, or choose another name/);
  assert.match(errors[1] ?? '', /See: cron \{"action":"list"\}$/);
  assert.match(errors[2] ?? '', /See: cron \{"action":"runs","name":"watch"\}$/);
  assert.match(errors[3] ?? '', /Say what to do: task "…"/);
});

it('a job of an agent names no scripted model, which would be a file anywhere, and no model that agents may not choose', async () => {
  const file = (model: string): Input => ({ model });
  const told = await calls([
    add('mine'),
    add('other', file('scripted:/etc/passwd')),
    { action: 'update', name: 'mine', ...file('scripted/../secret') },
  ]);
  for (const text of told.slice(1)) assert.match(text, /only a person can choose a scripted model/);
  assert.deepEqual(
    (await jobs()).map(({ name, config }) => [name, config.model]),
    [['mine', 'play/actor']],
  );
  assert.deepEqual(opened, []);
});

it('a job belongs to the tree, and its runs may do what the agent may, no more', async () => {
  await calls([add('mine'), { action: 'update', name: 'mine', model: 'some/model' }]);
  const [job] = await jobs();
  const root = await stage?.agent('main');
  assert.ok(job && root);
  assert.deepEqual([job.root_id, job.created_by], [root.id, 'agent:main:main']);
  const { config } = job;
  assert.deepEqual(config.permissions, root.config.permissions);
  assert.deepEqual(
    [config.model, config.cwd, config.toolsets],
    ['some/model', root.config.cwd, ['sessions']],
  );
  assert.ok(!config.tools.includes('cron'));
});

it('it does not see the jobs of others', async () => {
  folder_store = null;
  const outputs = await calls([add('first')]);
  assert.ok(outputs[0]?.includes('first'));
  const store = stage?.store as Store;
  const foreign = jobOf({ type: 'every', every_ms: 60_000, anchor: 0 }, { name: 'the person’s own' });
  await enter(store, foreign, 1);
  const root = await stage?.agent('main');
  const tool = createCronTool({
    is_served: true,
    canAsk: () => false,
    store,
    default_tz: 'UTC',
    terms: DEFAULT_TERMS,
    checkModel: async () => undefined,
  });
  const call = async (input: Input): Promise<string> => {
    const parsed = tool.parse(input);
    assert.ok(parsed.ok);
    const context = { agent: { id: root?.id ?? '', name: 'main' }, signal: new AbortController().signal };
    return (await tool.run(parsed.input, context as never)).output;
  };
  assert.deepEqual(
    JSON.parse(await call({ action: 'list' })).jobs.map((job: { name: string }) => job.name),
    ['first'],
  );
  for (const action of ['show', 'update', 'run', 'runs', 'remove', 'enable', 'disable'])
    assert.match(await call({ action, name: foreign.name }), /no scheduled job .*E_JOB_NOT_FOUND/);
  assert.equal((await store.findJobs(foreign.id)).length, 1);
});

it('an invalid job is an error that says what would be valid', async () => {
  const outputs = await calls([
    add('a', { every: '5s' }),
    add('a', { every: undefined, cron: '* * * * * *' }),
    add('a', { deliver: ['telegram:43'] }),
    add('a', { every: undefined }),
    add('', { task: '' }),
    { action: 'show' },
    add('a', { task: '' }),
    add('a', { model: 'no/model' }),
    add('a', { session: 'main', deliver: ['telegram:42'] }),
    add('a', { cron: '0 9 * * *' }),
  ]);
  const expected = [
    /may not run more often than every 60 s/,
    /may not run more often than every 60 s/,
    /telegram:43: results may not go there; choose from: telegram:42, webhook:ops/,
    /exactly one of cron, every and at/,
    /needs the name of a job|a job needs a name/,
    /show needs the name of a job/,
    /a job needs a task/,
    /no model no\/model/,
    /deliver needs an isolated session/,
    /cron and every are given/,
  ];
  for (const [at, pattern] of expected.entries()) assert.match(outputs[at] ?? '', pattern);
  assert.deepEqual(await jobs(), []);
});

it('a tree has no more enabled jobs than it may', async () => {
  const outputs = await calls(Array.from({ length: 21 }, (_, n) => add(`job ${n}`)));
  assert.match(outputs[20] ?? '', /already has 20 enabled scheduled jobs/);
  assert.equal((await jobs()).length, 20);
  await stage?.close();
  await folder_store?.close();
  const again = await calls([
    ...Array.from({ length: 20 }, (_, n) => add(`job ${n}`)),
    { action: 'disable', name: 'job 0' },
    add('one more'),
    { action: 'enable', name: 'job 0' },
    { action: 'update', name: 'job 0', every: '1h' },
    { action: 'update', name: 'job 1', timeoutSeconds: 86_400 },
  ]);
  for (const at of [22, 23]) assert.match(again[at] ?? '', /enabled scheduled jobs, the maximum/);
  assert.match(again[24] ?? '', /a run of this tree may take 1800 s at most/);
});

it('without a rule it may look, and is denied what changes something', async () => {
  const none = { allow: [], ask: [], deny: [] };
  const [listed, refused] = await calls([{ action: 'list' }, add('a')], {
    config: { permissions: { cli: none, config: none } },
  });
  assert.deepEqual(JSON.parse(listed ?? '').jobs, []);
  assert.match(refused ?? '', /cron/);
  assert.deepEqual(await jobs(), []);
});

it('sub-agents with one task have no such tool', async () => {
  const play = await setStage(
    (scene) => {
      if (scene.name === 'main' && scene.step === 0)
        return [['sessions_spawn', { task: 'look', label: 'child' }]];
      return `${scene.request.tools.map((tool) => tool.name).join()}`;
    },
    {
      toolsets: ['sessions'],
      tools: [
        createCronTool({
          is_served: true,
          canAsk: () => false,
          store: null as never,
          default_tz: 'UTC',
          terms: DEFAULT_TERMS,
          checkModel: async () => undefined,
        }),
      ],
    },
  );
  stage = play;
  await play.perform();
  const child = await play.agent('child');
  assert.ok(!child.config.tools.includes('cron'));
  assert.ok((await play.agent('main')).reply?.includes('cron'));
  assert.ok(!child.reply?.includes('cron'));
});
