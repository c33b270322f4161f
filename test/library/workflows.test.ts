/**
 * Proves `coppice.workflow` (docs/library.md#workflows): scripts and functions, exact results and counts, and that a run called again by its id goes on from the
 * ledger, with the same law of replay for functions.
 */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import {
  type Approval,
  type Coppice,
  CoppiceError,
  type OnApproval,
  type RunningWorkflow,
  type WorkflowGlobals,
} from '../../src/coppice.ts';
import { scriptTrust } from '../../src/models/workflow/saved-scripts.ts';
import { scriptHash } from '../../src/permissions/tool-permission.ts';
import { dataFolder } from '../../src/settings/folders.ts';
import { closeOpened } from '../close-opened.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { RULES } from '../workflows/run-workflow.ts';
import { libraryStage } from './library-stage.ts';

after(closeOpened);

const script = (body: string) => `export const meta = { name: 'test', description: 'a test' };\n${body}`;

async function stage(database?: string, env = process.env, onApproval?: OnApproval) {
  const coppice = { env, ...(onApproval && { onApproval }), ...(database === undefined ? {} : { database }) };
  const rules = [...RULES, { when: { user: 'hurry' }, delay_ms: 600_000, say: 'late' }];
  return libraryStage(rules as never, { subagents: null, coppice });
}

async function failureOf(what: Promise<unknown>): Promise<CoppiceError> {
  const error = await what.then(
    () => null,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof CoppiceError, String(error));
  return error;
}

describe('a script', () => {
  it('gives its exact value, and counts of its agents', async () => {
    const { coppice } = await stage();
    const body = `const [a, b] = await parallel([() => agent('say 42'), () => agent('fail', { label: 'bad', phase: 'P' })]);
      return args?.n === 1 ? a : { a, b, args }`;
    const run = await coppice.workflow<string>(script(body), { n: 1 });
    assert.equal(await run.result(), '42');
    const { succeeded, failed, skipped, running, failures, outcome, agents } = await run.outcome();
    assert.deepEqual([succeeded, failed, skipped, running], [1, 1, 0, 0]);
    assert.match(failures[0]?.reason ?? '', /no rule/);
    assert.deepEqual(
      [failures[0]?.label, failures[0]?.phase, outcome, agents.length],
      ['bad', 'P', 'done', 3],
    );
    const other = await coppice.workflow(script(body));
    assert.deepEqual(await other.result(), { a: '42', b: null });
  });

  it('is found by its name or path, and runs with the name and limits that are given', async () => {
    const env = { ...process.env, XDG_DATA_HOME: temporaryFolder() };
    const { coppice, folder } = await stage(undefined, env);
    mkdirSync(join(folder, '.coppice', 'workflows'), { recursive: true });
    const path = join(folder, '.coppice', 'workflows', 'saved.js');
    const text = script("return [await agent('say x'), budget.total]");
    writeFileSync(path, text);
    assert.match((await failureOf(coppice.workflow('saved'))).message, /not trusted as it is now/);
    scriptTrust(env, dataFolder(env)).accept(path, scriptHash(text));
    const limits = { tokens: 5000 };
    for (const what of ['saved', path, './.coppice/workflows/saved.js']) {
      const run = await coppice.workflow(what, undefined, { name: 'mine', limits });
      assert.deepEqual(await run.result(), ['x', 5000]);
      assert.equal((await run.outcome()).root.name, 'mine');
    }
    assert.equal((await failureOf(coppice.workflow('none'))).code, 'E_SCRIPT');
  });

  it('that fails, is stopped or asks for too much rejects with why', async () => {
    const { coppice } = await stage();
    const thrown = await coppice.workflow(script("throw new Error('no luck')"));
    const error = await failureOf(thrown.result());
    assert.deepEqual([error.code, /no luck \(line 2\)/.test(error.message)], ['E_WORKFLOW', true]);
    assert.equal((await thrown.outcome()).outcome, 'failed');
    const hung = await coppice.workflow(script("return agent('hang')"));
    await hung.kill();
    assert.match((await failureOf(hung.result())).message, /stopped/);
    const most = await coppice.workflow(script("await agent('say x'); return agent('say y')"), null, {
      calls: 1,
    });
    assert.match((await failureOf(most.result())).message, /1 times at most/);
  });

  it('is paused, written to, goes on, and goes on without an agent that is skipped', async () => {
    const { coppice, requests } = await stage();
    const body =
      "const a = agent('hang', { label: 'long', phase: 'P' }); const b = await agent('hang again', { label: 'other' }); return [await a, b]";
    const run = await coppice.workflow(script(body));
    await until(() => requests.length === 2);
    await run.message('hurry', { phase: 'P' });
    await run.pause();
    await run.resume();
    await run.stop();
    await run.resume();
    await until(() => requests.length >= 4);
    for (const label of ['long', 'other']) await run.skip(label);
    assert.deepEqual(await run.result(), [null, null]);
    assert.equal((await run.outcome()).skipped, 2);
    const heard = requests.filter(({ messages }) => JSON.stringify(messages).includes('hurry'));
    assert.ok(heard.length > 0 && heard.every(({ agent }) => agent?.name === 'long'));
    assert.equal((await failureOf(run.pause())).code, 'E_AGENT_DEAD');
    const { hint } = await failureOf(run.retry('long'));
    assert.match(hint ?? '', /coppice workflow rerun/);
    const before = requests.length;
    const again = await run.rerun();
    await until(() => requests.length === before + 2);
    await again.retry('long');
    await until(() => requests.length === before + 3);
    for (const label of ['long', 'other']) await again.skip(label);
    assert.deepEqual(await again.result(), [null, null]);
    assert.equal((await failureOf(run.skip('none'))).code, 'E_AGENT_NOT_FOUND');
  });

  it('asks the program, which answers or leaves the question in the queue', async () => {
    const asked: Approval[] = [];
    const onApproval: OnApproval = (ask) => {
      asked.push(ask);
      return ask.input.includes('later') ? 'later' : { verdict: 'allow', values: { answer: 'blue' } };
    };
    const { coppice } = await stage(undefined, process.env, onApproval);
    const ask = (question: string) => `await ask('${question}', { choices: ['red', 'blue'] })`;
    const run = await coppice.workflow<string[]>(script(`return [${ask('Which?')}, ${ask('Which?')}]`));
    assert.deepEqual(await run.result(), ['blue', 'blue']);
    assert.deepEqual(
      asked.map(({ subject_kind }) => subject_kind),
      ['question', 'question'],
    );
    const open = await coppice.workflow(script(`return ${ask('later')}`));
    await until(() => asked.length === 3);
    await open.kill();
  });

  it('wrong arguments are refused before anything starts', async () => {
    const { coppice } = await stage();
    const bad = (what: unknown, args?: unknown, options?: object) =>
      failureOf((coppice.workflow as (...given: unknown[]) => Promise<unknown>)(what, args, options));
    assert.equal((await bad(7)).code, 'E_INVALID_ARGUMENT');
    assert.equal((await bad(script('return 1'), () => 1)).code, 'E_INVALID_ARGUMENT');
    for (const args of [
      new Map([[1, 2]]),
      { a: new Set([1]) },
      [Number.NaN],
      { a: [() => 1] },
      { a: 1n },
      /x/,
    ])
      assert.match((await bad(script('return 1'), args)).message, /args must be JSON \(/);
    assert.equal((await bad(script('return 1'), 1, { calls: 0 })).code, 'E_INVALID_ARGUMENT');
    assert.equal((await bad(script('return 1'), 1, { id: '' })).code, 'E_INVALID_ARGUMENT');
    assert.equal((await bad(script('return 1'), 1, { calls: 0.5 })).code, 'E_INVALID_ARGUMENT');
    assert.match((await bad(script('return 1'), 1, { modle: 'x' })).hint ?? '', /model/);
    assert.equal((await bad('const x = 1;\nreturn x')).code, 'E_SCRIPT');
  });
});

describe('a function', () => {
  const review = async ({
    agent,
    parallel,
    pipeline,
    phase,
    log,
    args,
    budget,
    sleep,
    workflow,
  }: WorkflowGlobals<{
    readonly files: readonly string[];
  }>) => {
    phase('Look');
    log('begins');
    const looked = await pipeline(
      args.files,
      (file) => agent(`say ${file}`, { label: file }),
      (said, file, index) => agent(`say ${said}-${file}-${index}`, { onFailure: 'throw' }),
    );
    const [object, bad] = await parallel([
      () =>
        agent<{ n: number }>('object {"n":7}', {
          schema: { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } },
        }),
      () => agent('fail'),
    ] as const);
    await sleep(0.01);
    const inner = await workflow<{ got: unknown }>({ scriptPath: './inner.js' }, { n: 1 });
    return {
      looked,
      n: object?.n ?? null,
      bad,
      failures: agent.failures().length,
      total: budget.total,
      inner,
    };
  };

  it('has the globals of scripts, typed', async () => {
    const { coppice, folder } = await stage();
    writeFileSync(join(folder, 'inner.js'), script('return { got: args }'));
    const run = await coppice.workflow(review, { files: ['a', 'b'] });
    const { looked, ...others }: Awaited<ReturnType<typeof review>> = await run.result();
    assert.deepEqual(looked, ['a-a-0', 'b-b-1']);
    assert.deepEqual(others, { n: 7, bad: null, failures: 1, total: null, inner: { got: { n: 1 } } });
    assert.deepEqual((await run.outcome()).failed, 1);
  });

  it('may await what is not ours, and is seen to fail', async () => {
    const { coppice } = await stage();
    const read = await coppice.workflow(async ({ agent }) => {
      const file = await readFile(import.meta.filename, 'utf8');
      const said = await agent('say x');
      await readFile(import.meta.filename, 'utf8');
      return [file.length > 10, said, await agent('say y')];
    });
    assert.deepEqual(await read.result(), [true, 'x', 'y']);
    const thrown = await coppice.workflow(() => {
      throw new Error('at once');
    });
    assert.match((await failureOf(thrown.result())).message, /at once/);
    const odd = await coppice.workflow(() => new Map());
    assert.match((await failureOf(odd.result())).message, /is not JSON/);
  });
});

describe('a run that is called again by its id', () => {
  const ask = (say: string) =>
    async function two({ agent }: WorkflowGlobals<number>) {
      return [await agent('say one'), await agent(say)];
    };

  it('is the same run, and has its result', async () => {
    const { coppice, requests } = await stage();
    const [first, same] = await Promise.all([
      coppice.workflow(ask('say two'), 1, { id: 'nightly' }),
      coppice.workflow(ask('say two'), 1, { id: 'nightly' }),
    ]);
    assert.deepEqual(await first.result(), ['one', 'two']);
    assert.deepEqual(await same.result(), ['one', 'two']);
    const again = await coppice.workflow(ask('say two'), 1, { id: 'nightly' });
    assert.deepEqual([again.id, await again.result()], [first.id, ['one', 'two']]);
    const by_uuid = await coppice.workflow(ask('say two'), 1, { id: first.id });
    assert.deepEqual(await by_uuid.result(), ['one', 'two']);
    assert.equal(requests.length, 2);
    assert.match(
      (await failureOf(coppice.workflow(ask('say two'), 2, { id: 'nightly' }))).message,
      /arguments/,
    );
    const other = coppice.workflow(script('return 1'), 1, { id: 'nightly' });
    assert.match((await failureOf(other)).message, /a run of a function/);
  });

  /** Leaves a run with one agent done and one at work. */
  async function interrupted(): Promise<string> {
    const database = `sqlite:${join(temporaryFolder(), 'ledger.db')}`;
    const { coppice, requests } = await stage(database);
    const run = await coppice.workflow(ask('hang'), 1, { id: 'job' });
    await until(() => requests.length === 2);
    const end = failureOf(run.result());
    await coppice.close();
    assert.equal((await end).code, 'E_CLOSED');
    return database;
  }
  const goesOn = async (coppice: Coppice, say: string): Promise<RunningWorkflow<unknown>> =>
    coppice.workflow(ask(say), 1, { id: 'job' });

  it('goes on in another process, where other processes cannot run it', async () => {
    const database = await interrupted();
    const stranger = await stage(database);
    const { id } = await goesOn(stranger.coppice, 'hang');
    await stranger.coppice.close();
    const { coppice, requests } = await stage(database);
    await coppice.resume(id);
    // A letter makes a run look again.
    await coppice.send(id, 'how is it going?');
    const state = async () => (await coppice.resume(id)).report.root.state;
    await until(async () => /a function of another program/.test(JSON.stringify(await state())));
    // The same process, once it has the function.
    const run = await goesOn(coppice, 'hang');
    await until(async () => (await state()).type === 'executing');
    assert.ok(requests.every(({ messages }) => /hang/.test(JSON.stringify(messages))));
    await run.kill();
    assert.equal((await run.outcome()).outcome, 'stopped');
  });

  it('that asks for something else is stopped with both texts, and goes on once it is mended', async () => {
    const database = await interrupted();
    const { coppice, requests } = await stage(database);
    const run = await goesOn(coppice, 'say other');
    await run.send('look again');
    const { message } = await failureOf(run.result());
    assert.match(message, /call 2 is recorded as agent "hang".*now asks for agent "say other"/);
    const mended = await goesOn(coppice, 'hang');
    await until(async () => (await coppice.resume(run.id)).report.root.state.type === 'executing');
    assert.ok(requests.every(({ messages }) => !JSON.stringify(messages).includes('say one')));
    await mended.kill();
  });
});
