// Proves with real processes whose wall clock is set under way (libfaketime; their monotonic clock goes on) that a run loses no report and ends no turn by a step,
// also when its process is killed or stopped at that moment, and that a worker goes on leading its trees.
import assert from 'node:assert/strict';
import { globSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { openStore } from '../../src/store/open-store.ts';
import { type Home, makeHome } from '../cli/run-cli.ts';
import { until } from '../until.ts';
import { countLines, room } from './killed-run.ts';

const [LIBRARY] = globSync('/usr/lib/{*/,}faketime/libfaketimeMT.so.1');
const skip = LIBRARY === undefined && 'there is no libfaketime here (on Debian: the package faketime)';

const CHILDREN = 20;
const RULES = {
  rules: [
    {
      when: { root: true, step: 0 },
      calls: [
        { name: 'fork', input: { name: 'c{{index}}', prompt: 'ID=k{{index}}= work' }, repeat: CHILDREN },
      ],
    },
    {
      when: { root: true, step: 1 },
      calls: [{ name: 'wait', input: { timeout: 120, from_agents: '{{results.fork.*.agent_id}}' } }],
    },
    { when: { root: true }, say: 'DONE {{#each results.wait.-1.results}}{{.message}} {{/each}}' },
    {
      when: { root: false, tool: 'bash' },
      delay_ms: 1500,
      calls: [{ name: 'send', input: { to: '{{parent_id}}', message: 'REP-{{user.ID=(\\w+)=}}.' } }],
    },
    { when: { root: false, tool: 'send' }, say: 'ok' },
    {
      when: { root: false },
      delay_ms: 1500,
      calls: [{ name: 'bash', input: { command: 'echo "{{user.ID=(\\w+)=}}" >> calls.log' } }],
    },
  ],
};
const MODEL = ['--model', 'scripted:rules.json'];
const RUN = ['run', 'x', '--yes', ...room(CHILDREN), ...MODEL];

/** A home whose programs have a wall clock that the test sets: `+2h` ahead of the real one. */
function clockHome(): Home & { set(to: string): void } {
  const home = makeHome();
  const file = join(home.folder, 'faketime');
  const set = (to: string): void => {
    writeFileSync(`${file}.new`, `${to}\n`);
    renameSync(`${file}.new`, file);
  };
  set('+0');
  writeFileSync(join(home.work, 'rules.json'), JSON.stringify(RULES));
  Object.assign(home.env, {
    LD_PRELOAD: LIBRARY,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    DONT_FAKE_MONOTONIC: '1',
  });
  return { ...home, set };
}

/** Resolves once the root waits for its children. */
async function atWork(home: Home): Promise<void> {
  const waits = async () => {
    const store = await openStore(home.database);
    const [root] = await store.agents({ conversations: true });
    await store.close();
    return root?.doing === `wait ${CHILDREN} agents`;
  };
  await until(waits, 'the root waits for its children');
}

function assertWhole(stdout: string, stderr: string): void {
  assert.equal(new Set(stdout.match(/REP-k\d+\./g)).size, CHILDREN, stdout + stderr);
  assert.doesNotMatch(stderr, /limit reached/);
}

for (const step of ['+20m', '+2h', '+2d', '-2h'])
  it(`${step} in the middle of a run: every report arrives, nobody is cut`, { skip }, async () => {
    const home = clockHome();
    const { ended } = home.start(RUN);
    await atWork(home);
    home.set(step);
    const { code, stdout, stderr } = await ended;
    assert.equal(code, 0, stderr);
    assertWhole(stdout, stderr);
  });

for (const after_ms of [0, 400, 800, 1_600])
  it(`a process killed ${after_ms} ms after a step of eight hours is resumed, and goes on with what was left`, {
    skip,
  }, async () => {
    const home = clockHome();
    const { child, ended } = home.start(RUN);
    await atWork(home);
    home.set('+8h');
    await new Promise((resolve) => setTimeout(resolve, after_ms));
    child.kill('SIGKILL');
    await ended;
    const { code, stdout, stderr } = await home.start(['resume', ...MODEL]).ended;
    assert.equal(code, 0, stderr);
    assertWhole(stdout, stderr);
  });

it('a process that was stopped for longer than its lease, while the clock was set, goes on', {
  skip,
}, async () => {
  const home = clockHome();
  const { child, ended } = home.start(RUN);
  await atWork(home);
  child.kill('SIGSTOP');
  home.set('+8h');
  await new Promise((resolve) => setTimeout(resolve, 12_000));
  child.kill('SIGCONT');
  const { code, stdout, stderr } = await ended;
  assert.equal(code, 0, stderr);
  assertWhole(stdout, stderr);
});

it('a worker goes on leading after steps ahead and back, and runs no call twice', { skip }, async () => {
  const home = clockHome();
  const worker = home.start(['worker']);
  const entered = await home.start([...RUN, '--detach']).ended;
  assert.equal(entered.code, 0, entered.stderr);
  await atWork(home);
  home.set('+8h');
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  home.set('+6h');
  const { code, stdout, stderr } = await home.start(['wait', '--json', '--timeout', '60']).ended;
  assert.equal(code, 0, stderr);
  const { results } = JSON.parse(stdout) as { results: { name: string; last_reply?: string }[] };
  assertWhole(results.find(({ name }) => name === 'main')?.last_reply ?? '', '');
  const calls = countLines(join(home.work, 'calls.log'));
  assert.deepEqual(
    [...calls].filter(([, times]) => times !== 1),
    [],
  );
  assert.equal(calls.size, CHILDREN);
  worker.child.kill('SIGTERM');
  await worker.ended;
});

it('of two workers on one machine, none takes over what the other leads after a step, and both go on', {
  skip,
}, async () => {
  const home = clockHome();
  const rules = {
    rules: [
      { when: { step: 0 }, calls: [{ name: 'bash', input: { command: 'sleep 5; echo done >> calls.log' } }] },
      { say: '{{result}}' },
    ],
  };
  writeFileSync(join(home.work, 'rules.json'), JSON.stringify(rules));
  const workers = [home.start(['worker']), home.start(['worker'])];
  const bothWork = async () => {
    const ledger = await openStore(home.database);
    const { length } = await ledger.workers();
    await ledger.close();
    return length === 2;
  };
  await until(bothWork, 'both work');
  for (let tree = 0; tree < 6; tree += 1) await home.start(['run', 'x', '--yes', ...MODEL, '--detach']).ended;
  const store = await openStore(home.database);
  const roots = () => store.agents({ conversations: true });
  await until(
    async () => (await roots()).every(({ doing }) => doing?.startsWith('bash')),
    'all commands run',
  );
  home.set('+8h');
  await until(async () => (await roots()).every(({ state }) => state.type === 'idle'), 'all have ended');
  assert.deepEqual(
    (await roots()).map(({ reply, epoch }) => [reply, epoch]),
    Array.from({ length: 6 }, () => ['[no output]', 2]),
  );
  await store.close();
  for (const { child } of workers) child.kill('SIGTERM');
  for (const { ended } of workers) await ended;
});
