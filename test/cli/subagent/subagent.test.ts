// Proves `coppice subagent` from a user's point of view: from a second process while a run works, on both databases; texts, JSON, errors and exit codes.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Run } from '../../../src/records/run/run.ts';
import { openStore } from '../../../src/store/open-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { type Databases, sharedPostgres } from '../../postgres/shared-postgres.ts';
import { bare } from '../../runtime/stage.ts';
import { newAgent, newRoot, stepOf } from '../../store/ledger-fixture.ts';
import { until } from '../../until.ts';
import { type Home, makeHome } from '../run-cli.ts';

const RUN = ['run', 'begin', '--model', 'scripted:rules.json', '--toolset', 'sessions'];
const XFS = 'Research the history of the XFS filesystem.';

/** The root spawns `inputs` and then repeats what it is told; a task that begins with "slow" hangs, one with "later" takes 1.5 seconds. */
function homeWith(inputs: readonly object[], maxConcurrent: number): Home {
  const home = makeHome();
  home.configure({ agents: { defaults: { subagents: { maxConcurrent } } } });
  const calls = inputs.map((input) => ({ name: 'sessions_spawn', input }));
  const rules = [
    { when: { root: true, user: '^nothing' }, say: 'nothing' },
    { when: { root: true, step: 0 }, calls },
    { when: { root: true, step: 1 }, say: 'spawned' },
    { when: { root: true }, say: 'heard {{user}}' },
    { when: { user: '^slow' }, delay_ms: 600_000, say: 'never' },
    { when: { user: '^later' }, delay_ms: 1_500, say: 'late' },
    { say: 'result of {{user}}' },
  ];
  writeFileSync(join(home.work, 'rules.json'), JSON.stringify({ rules }));
  return home;
}

interface Listed {
  readonly schema: string;
  readonly runs: readonly {
    readonly id: string;
    readonly label: string | null;
    readonly status: string;
    readonly session_key: string;
  }[];
}

function suite(
  start: () => Promise<{ readonly url: string | null; readonly stop: () => Promise<void> }>,
): void {
  let [url, stop]: [string | null, () => Promise<void>] = [null, async () => undefined];
  before(async () => {
    ({ url, stop } = await start());
  });
  after(() => stop());

  it('list, show, cancel and history from another process while the run works', async () => {
    const home = homeWith(
      [
        { task: XFS, label: 'xfs-research', cleanup: 'delete', timeoutSeconds: 120 },
        { task: 'slow one', label: 'slow' },
        { task: 'slow two' },
        { task: 'slow three', label: 'third' },
      ],
      2,
    );
    const env = url === null ? {} : { DATABASE_URL: url };
    const coppice = (...args: string[]) => home.run(['subagent', ...args], { env });
    const json = async <T>(...args: string[]) => JSON.parse((await coppice(...args, '--json')).stdout) as T;
    const { ended } = home.start(RUN, { env });
    await until(async () => {
      const { runs } = await json<Listed>('list');
      return runs.map((run) => run.status).join() === 'running,running,queued';
    }, 'two at work, one queued');

    const list = await coppice('list');
    assert.equal(list.code, 0);
    const lines = list.stdout.trimEnd().split('\n');
    assert.match(lines[0] ?? '', /^RUN +LABEL +SOURCE +STATUS +TIME +AGE +TASK, OR WHY IT FAILED$/);
    assert.match(lines[1] ?? '', /^[0-9a-f]{4,} +slow +subagent +◐ running +\d+s +\d+s +slow one$/);
    assert.match(lines[2] ?? '', /^[0-9a-f]{4,} +– +subagent +◐ running +\d+s +\d+s +slow two$/);
    assert.match(lines[3] ?? '', /^[0-9a-f]{4,} +third +subagent +◌ queued +– +\d+s +slow three$/);
    assert.deepEqual(lines.slice(4), ['3 runs, 1 queued']);

    const { schema, runs } = await json<Listed>('list');
    assert.equal(schema, 'coppice/subagent-runs/v1');
    assert.deepEqual(
      runs.map((run) => run.label),
      ['slow', null, 'third'],
    );
    const [slow, nameless, third] = runs.map((run) => run.id) as [string, string, string];

    const shown = await coppice('show', slow.slice(0, 8));
    assert.equal(shown.code, 0);
    for (const row of [
      `run        ${slow}`,
      'label      slow',
      'status     ◐ running',
      'requester  agent:main:main',
      'model      scripted:rules.json, thinking off',
      'timeout    –',
      'cleanup    keep',
      'finished   –',
    ])
      assert.ok(shown.stdout.includes(`${row}\n`), `${row} in\n${shown.stdout}`);
    assert.match(shown.stdout, /\nduration {3}\d+s so far\n\ntask\nslow one\n$/);
    const by_key = await json<Record<string, unknown>>('show', runs[2]?.session_key ?? '');
    assert.deepEqual(
      [by_key.schema, by_key.id, by_key.status, by_key.started_at, by_key.task],
      ['coppice/subagent-run/v1', third, 'queued', null, 'slow three'],
    );

    const cancelled = await coppice('cancel', slow.slice(0, 8));
    assert.deepEqual([cancelled.code, cancelled.stdout, cancelled.stderr], [0, 'cancelled slow\n', '']);
    await until(
      async () => (await json<{ status: string }>('show', third)).status === 'running',
      'the queued run has its turn',
    );
    const again = await coppice('cancel', slow);
    assert.equal(again.code, 1);
    assert.match(
      again.stderr,
      /has ended already: cancelled \(E_RUN_FINISHED\)\n +See: coppice subagent show/,
    );
    const ends = await json<{ schema: string; status: string; error: string }>('cancel', nameless);
    assert.deepEqual(
      [ends.schema, ends.status, ends.error],
      ['coppice/subagent-run/v1', 'cancelled', 'cancelled by you'],
    );
    assert.equal((await coppice('cancel', third)).code, 0);

    const result = await ended;
    assert.equal(result.code, 0, result.stderr);
    assert.match(
      result.stdout,
      /^heard .*\[Subagent: third\] Cancelled:\n--- (\w{8}) why it ended, not instructions\ncancelled by you\n--- \1 end\n\n\[Did: nothing\]\n$/s,
    );
    const none = await coppice('list');
    assert.deepEqual([none.code, none.stdout], [0, 'no runs at work; see all: coppice subagent history\n']);
    const history = (await coppice('history')).stdout.trimEnd().split('\n').slice(1);
    assert.deepEqual(
      history.map((line) => line.split(/ {2,}/).slice(1, 4).join()),
      ['third', '–', 'slow', 'xfs-research'].map(
        (label, index) => `${label},subagent,${index === 3 ? '✓ completed' : '✗ cancelled'}`,
      ),
    );
    assert.match(history[0] ?? '', / cancelled by you$/);
    const newest = await json<Listed>('history', '--limit', '1');
    assert.deepEqual(
      newest.runs.map((run) => run.id),
      [third],
    );
    const all = await json<Listed>('history');
    const done = await coppice('show', all.runs[3]?.id ?? '');
    assert.match(done.stdout, /\nagent {6}[0-9a-f-]{36} \(deleted\)\n/);
    assert.match(done.stdout, /\ntimeout {4}2m00\n/);
    assert.ok(done.stdout.endsWith(`\ntask\n${XFS}\n\nresult\nresult of ${XFS}\n`), done.stdout);
  });
}

describe('coppice subagent on SQLite', () => suite(async () => ({ url: null, stop: async () => undefined })));

describe('coppice subagent on PostgreSQL', () =>
  suite(async () => {
    const server: Databases = await sharedPostgres();
    return { url: await server.createDatabase(), stop: () => server.stop() };
  }));

describe('coppice subagent', () => {
  async function runs(home: Home): Promise<Run[]> {
    const store = await openStore(home.database);
    const found = (await store.runs({})).toReversed();
    await store.close();
    return found;
  }

  /** Enters a run with this id, of an agent that nobody leads. */
  async function enter(store: Store, id: string, label: string): Promise<void> {
    const root = await newRoot(store);
    const child = newAgent(root, { origin: 'session', state: { type: 'idle' } }, []);
    const run = {
      id,
      source: 'subagent' as const,
      session_key: child.agent.session_key,
      requester_id: root.id,
      requester_key: root.session_key,
      task: 'a task',
      label,
      model: 'm',
      thinking: 'off',
      timeout_ms: null,
      cleanup: 'keep' as const,
      deliver: [],
      job_id: null,
    };
    await store.commit([stepOf(root, { create: [{ ...child, run }] })]);
  }

  it('says what is wrong and what to do: unknown, ambiguous, not a number', async () => {
    const home = makeHome();
    const empty = await home.run(['subagent', 'history']);
    assert.deepEqual([empty.code, empty.stdout], [0, 'no runs yet\n']);
    const store = await openStore(home.database);
    const ids = ['1', '2'].map((tail) => `abcdef01-0000-4000-8000-00000000000${tail}`) as [string, string];
    await enter(store, ids[0], 'first');
    await enter(store, ids[1], 'second\u001b[31m');
    await store.close();
    const cases: readonly (readonly [string[], number, RegExp])[] = [
      [
        ['show', 'nobody'],
        3,
        /^error: no run "nobody" \(E_RUN_NOT_FOUND\)\n +See: coppice subagent history\n$/,
      ],
      [['cancel', 'abc'], 3, /E_RUN_NOT_FOUND/],
      [['show', 'abcdef'], 3, /^error: "abcdef" matches 2 runs \(E_RUN_AMBIGUOUS\)\n/],
      [
        ['cancel', 'abcdef'],
        3,
        /abcdef01-0000-4000-8000-000000000001 \(first, queued\)\n.*Use a longer id\.\n$/s,
      ],
      [['history', '--limit', '0'], 2, /a whole number, 1 to 1000/],
      [['history', '--limit', 'x'], 2, /a whole number/],
      [['show'], 2, /missing required argument 'run'/],
      [['cancle', 'x'], 2, /Did you mean cancel/],
    ];
    for (const [args, code, message] of cases) {
      const result = await home.run(['subagent', ...args]);
      assert.equal(result.code, code, `${args.join(' ')}: ${result.stderr}`);
      assert.match(result.stderr, message);
      assert.equal(result.stdout, '');
      assert.equal(result.stderr.includes('\u001b'), false);
    }
    const json = await home.run(['subagent', 'show', 'abcdef', '--json']);
    assert.equal(json.code, 3);
    assert.equal(JSON.parse(json.stdout).error.code, 'E_RUN_AMBIGUOUS');
    assert.equal((await home.run(['subagent', 'show', ids[0]])).code, 0);
  });

  it('runs whose process is gone: list says so, cancel ends them, resume tells the requester and does the rest', async () => {
    const home = homeWith(
      [
        { task: 'slow one', label: 'slow' },
        { task: 'quick', label: 'quick' },
      ],
      1,
    );
    const { child, ended } = home.start(RUN);
    await until(
      async () => (await runs(home)).map((run) => run.status).join() === 'running,queued',
      'at work',
    );
    child.kill('SIGKILL');
    await ended;
    const list = await home.run(['subagent', 'list']);
    const [slow] = await runs(home);
    assert.match(
      list.stdout,
      /\n2 runs, 1 queued\nno process leads them now, nothing is lost; continue with:\n/,
    );
    assert.ok(list.stdout.endsWith(`  coppice resume ${slow?.root_id.slice(0, 8)}\n`), list.stdout);
    const cancelled = await home.run(['subagent', 'cancel', slow?.id ?? '']);
    assert.deepEqual([cancelled.code, cancelled.stdout], [0, 'cancelled slow\n']);
    // A newer, finished tree does not hide the one with a queued run and an undelivered announcement.
    assert.equal((await home.run(['run', 'nothing', ...RUN.slice(2)])).stdout, 'nothing\n');
    const resumed = await home.run(['resume']);
    assert.equal(resumed.code, 0, resumed.stderr);
    const [first, second] = await runs(home);
    assert.deepEqual(
      [first?.error, second?.status, second?.result],
      ['Killed by you', 'completed', 'result of quick'],
    );
    const store = await openStore(home.database);
    const history = await store.history(first?.root_id ?? '');
    const told = history.flatMap((message) =>
      message.kind === 'user' && message.content.origin === 'system' ? [bare(message.content.text)] : [],
    );
    assert.deepEqual(told, [
      '[Subagent: slow] Cancelled: Killed by you',
      '[Subagent: quick] Complete.\n\nresult of quick',
    ]);
    await store.close();
  });

  it('--no-wait ends with the first answer and says what is left; resume finishes it, and ends only when all is told', async () => {
    const labels = ['a', 'b', 'c'];
    const home = homeWith(
      labels.map((label) => ({ task: label === 'a' ? 'later' : `do ${label}`, label })),
      1,
    );
    const first = await home.run([...RUN, '--no-wait']);
    assert.deepEqual([first.code, first.stdout], [0, 'spawned\n']);
    const [a] = await runs(home);
    const root = a?.root_id ?? '';
    assert.ok(
      first.stderr.endsWith(
        `unfinished: 1 at work, 2 queued; nothing is lost, continue with: coppice resume ${root.slice(0, 8)}\n`,
      ),
      first.stderr,
    );
    assert.deepEqual(
      (await runs(home)).map((run) => run.status),
      ['running', 'queued', 'queued'],
    );
    const second = await home.run(['resume', root.slice(0, 8)]);
    assert.equal(second.code, 0, second.stderr);
    assert.equal(bare(second.stdout.trimEnd()), 'heard [Subagent: c] Complete.\n\nresult of do c');
    assert.deepEqual(
      (await runs(home)).map((run) => [run.status, run.result]),
      [
        ['completed', 'late'],
        ['completed', 'result of do b'],
        ['completed', 'result of do c'],
      ],
    );
    const store = await openStore(home.database);
    assert.deepEqual(await store.mail(root), []);
    await store.close();
  });
});
