// Proves `coppice approvals` from a user's point of view: from a second process while `run --ask` waits, on both databases; texts, JSON, errors and exit
// codes.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { alwaysOnBothDatabases } from '../runtime/both-databases.ts';
import { until } from '../until.ts';
import type { CliResult } from './residents.ts';
import { type Home, makeHome } from './run-cli.ts';

interface Listed {
  readonly id: string;
  readonly agent_id: string;
  readonly agent_name: string;
  readonly tool: string;
  readonly subject: string;
  readonly input: string;
  readonly verdict: string | null;
}

interface Desk {
  readonly home: Home;
  readonly run: Promise<CliResult>;
  readonly pid: number;
  approvals(...args: string[]): Promise<CliResult>;
  coppice(...args: string[]): Promise<CliResult>;
  /** Returns the open questions once there are `count`. */
  open(count?: number): Promise<readonly Listed[]>;
}

/** Starts a run that waits: the root makes the calls of each round in turn, and ends with the result of the last. */
function deskWith(
  rounds: readonly (readonly object[])[],
  database: string | undefined,
  ...more: string[]
): Desk {
  const home = makeHome();
  const rules = [
    ...rounds.map((calls, step) => ({ when: { root: true, step }, calls })),
    { when: { root: true }, say: 'last: {{result}}' },
    { when: { step: 0 }, calls: [{ name: 'bash', input: { command: 'touch by-kid' } }] },
    { say: 'kid is done' },
  ];
  writeFileSync(join(home.work, 'rules.json'), JSON.stringify({ rules }));
  const env = database === undefined ? {} : { DATABASE_URL: database };
  const coppice = (...args: string[]) => home.run(args, { env });
  const approvals = (...args: string[]) => coppice('approvals', ...args);
  const { child, ended } = home.start(['run', 'begin', '--model', 'scripted:rules.json', '--ask', ...more], {
    env,
  });
  return {
    home,
    run: ended,
    pid: child.pid ?? 0,
    approvals,
    coppice,
    async open(count = 1) {
      let list: readonly Listed[] = [];
      await until(async () => {
        const { stdout } = await approvals('list', '--json');
        list = (JSON.parse(stdout) as { approvals: Listed[] }).approvals;
        return list.length === count;
      }, `${count} open`);
      return list;
    },
  };
}

const bash = (command: string) => ({ name: 'bash', input: { command } });

function suite(database: () => Promise<string | undefined>): void {
  it('list shows the whole call; allow runs it, a second answer is refused', async () => {
    const text = `${'a long line '.repeat(30)}\nthe \u001b[31mend\u200b 漢字`;
    const desk = deskWith(
      [[{ name: 'write', input: { path: 'notes.md', content: text } }]],
      await database(),
    );
    const [ask] = await desk.open();
    assert.ok(ask);
    const list = await desk.approvals('list');
    assert.deepEqual([list.code, list.stderr], [0, '']);
    const lines = list.stdout.split('\n');
    assert.match(lines[0] ?? '', /^[0-9a-f]{8} {2}main wants write · waits \d+s$/);
    assert.deepEqual(lines.slice(1, 8), [
      '    path: notes.md',
      '    change:',
      '      (a new file)',
      '      @@ -0,0 +1,2 @@',
      `      +${'a long line '.repeat(30).trimEnd()}`,
      '      +the \\u{1b}[31mend\\u{200b} 漢字',
      '      \\ No newline at end of file',
    ]);
    assert.match(lines[8] ?? '', /\(hidden characters are spelled .*\)/);
    assert.match(lines[9] ?? '', /^ {4}in .*work · rule: ask\(write\), the default$/);
    assert.deepEqual(JSON.parse(ask.input), { path: 'notes.md', content: text });

    const ps = await desk.coppice('ps');
    assert.match(ps.stdout, /main +! waiting for you .*asks: write notes\.md/);
    assert.match(ps.stdout, /\n1 approval waiting: coppice approvals list\n$/);
    const { agents } = JSON.parse((await desk.coppice('ps', '--json')).stdout) as {
      agents: { pending_approval: string | null }[];
    };
    assert.deepEqual(
      agents.map(({ pending_approval }) => pending_approval),
      [ask.id],
    );

    const file = join(desk.home.work, 'notes.md');
    assert.equal(existsSync(file), false);
    const allowed = await desk.approvals('allow', lines[0]?.slice(0, 8) ?? '');
    assert.deepEqual([allowed.code, allowed.stdout], [0, 'allowed main: write notes.md\n']);
    const ended = await desk.run;
    assert.equal(ended.code, 0);
    assert.match(ended.stderr, /main: waiting for you, asks: write notes\.md/);
    assert.match(ended.stderr, /1 approval waits \(coppice approvals\)/);
    assert.equal(readFileSync(file, 'utf8'), text);

    const again = await desk.approvals('deny', ask.id);
    assert.equal(again.code, 1);
    assert.match(
      again.stderr,
      /means main: write notes\.md, which was allowed by you \d+s ago; nothing was answered \(E_ASK_ANSWERED\)/,
    );
    const empty = await desk.approvals('list');
    assert.equal(empty.stdout, 'nothing waits for approval\n');
  });

  it('an id from an old list answers no later call; show prints the whole of a long one', async () => {
    const long = `true ${'x'.repeat(16_000)}; touch unseen\u202e; true ${'y '.repeat(8_000)}`;
    const desk = deskWith([[bash('echo harmless')], [bash(long)]], await database());
    const listed = async () => (await desk.approvals('list')).stdout;
    const [first] = await desk.open();
    const id = /^[0-9a-f]{8}(?= )/.exec(await listed())?.[0] ?? '';
    assert.equal(id, first?.id.slice(0, 8));
    assert.equal((await desk.approvals('deny', id)).code, 0);
    await until(async () => (await listed()).includes('xxxx'), 'the next question');
    const late = await desk.approvals('allow', id);
    assert.equal(late.code, 1);
    assert.match(
      late.stderr,
      /means main: bash echo harmless, which was denied by you \d+s ago; nothing was answered/,
    );
    const cut = await listed();
    const next = /^[0-9a-f]{8}(?= )/.exec(cut)?.[0] ?? '';
    assert.ok(!cut.includes('unseen') && cut.includes(`(whole: coppice approvals show ${next})`), cut);
    const { stdout } = await desk.approvals('show', next);
    assert.ok(stdout.includes(long.replace('\u202e', '\\u{202e}').trimEnd()));
    assert.equal((await desk.open()).length, 1);
    assert.equal(existsSync(join(desk.home.work, 'unseen')), false);
    assert.equal((await desk.approvals('deny', next)).code, 0);
    await desk.run;
  });

  it('deny --say tells the model why; --json gives the answered question', async () => {
    const desk = deskWith([[bash('rm -rf everything')]], await database());
    const [ask] = await desk.open();
    const denied = await desk.approvals('deny', ask?.id ?? '', '--say', 'keep the 漢字', '--json');
    const { schema, verdict, note, tool, subject, scope } = JSON.parse(denied.stdout);
    assert.deepEqual(
      { schema, verdict, note, tool, subject, scope },
      {
        schema: 'coppice/approval/v1',
        verdict: 'deny',
        note: 'keep the 漢字',
        tool: 'bash',
        subject: 'rm -rf everything',
        scope: 'once',
      },
    );
    const { code, stdout } = await desk.run;
    assert.equal(code, 0);
    assert.match(stdout, /bash was denied by the user\. .*They say: keep the 漢字/);
  });

  it('allow --agent lets this agent go on by itself; a child asks for itself, shown below its parent', async () => {
    const fork = { name: 'fork', input: { name: 'kid', prompt: 'be kid' } };
    const desk = deskWith([[bash('touch one')], [bash('touch two'), fork]], await database());
    const [first] = await desk.open();
    assert.equal((await desk.approvals('allow', first?.id ?? '', '--agent')).code, 0);
    await until(async () => (await desk.open())[0]?.agent_name === 'kid', 'the child asks');
    assert.ok(existsSync(join(desk.home.work, 'two')));
    assert.equal(existsSync(join(desk.home.work, 'by-kid')), false);
    const { stdout } = await desk.approvals('list');
    assert.match(stdout, /^[0-9a-f]{8} {2}main › kid wants bash · waits \d+s\n {4}command: touch by-kid\n/);
    const [ask] = await desk.open();
    await desk.approvals('allow', ask?.id ?? '');
    assert.equal((await desk.run).code, 0);
    assert.ok(existsSync(join(desk.home.work, 'by-kid')));
  });

  it('a rule is granted only by its text: shown first, for the tree or for good, listed, and taken back', async () => {
    const desk = deskWith(
      [[bash('git status')], [bash('git log')], [bash('git status -s')]],
      await database(),
    );
    const [first] = await desk.open();
    const id = first?.id ?? '';
    assert.match((await desk.approvals('list')).stdout, /\n {4}from now on: --rule 'bash:git status \*'\n/);
    const unnamed = await desk.approvals('allow', id, '--session');
    assert.equal(unnamed.code, 2);
    assert.match(
      unnamed.stderr,
      /--session: which rule is granted\? .*\n.*\n.*--session --rule 'bash:git status \*'\n/,
    );
    assert.equal((await desk.approvals('allow', id, '--session', '--always')).code, 2);
    assert.equal((await desk.approvals('allow', id, '--rule', 'bash:git *')).code, 2);
    const other = await desk.approvals('allow', id, '--session', '--rule', 'bash:ls *');
    assert.match(other.stderr, /the rule "bash:ls \*" does not match this call/);
    const granted = await desk.approvals('allow', id, '--always', '--rule', 'bash:git status *');
    assert.equal(granted.code, 0, granted.stderr);
    assert.match(granted.stdout, /granted bash:git status \*; see: coppice approvals rules list\n$/);
    const [second] = await desk.open();
    assert.equal(second?.subject, 'git log', 'the rule is for git status');
    const listed = (await desk.approvals('rules', 'list')).stdout;
    assert.match(
      listed,
      /^[0-9a-f]{4} {2}bash:git status \*\n {4}every agent in the folder, for good · in .* · by you, \d+s ago\n/,
    );
    assert.match(listed, /kept in .*coppice.rules\.json\n/);
    const wide = await desk.approvals('allow', second?.id ?? '', '--session', '--rule', 'bash:git *');
    assert.match(wide.stdout, /\nbash:git \*: git can run other programs; calls in which it does still ask/);
    assert.match(
      (await desk.approvals('rules', 'list')).stdout,
      /bash:git \*\n.* git can run other programs/,
    );
    assert.equal((await desk.run).code, 0, 'git status -s asked nobody');
    const removed = await desk.approvals('rules', 'remove', id.slice(0, 8), '--json');
    assert.equal(JSON.parse(removed.stdout).schema, 'coppice/rule/v1');
    assert.equal((await desk.approvals('rules', 'remove', id)).code, 3);
    const { rules } = JSON.parse((await desk.approvals('rules', 'list', '--json')).stdout);
    assert.deepEqual(
      rules.map(({ rule, scope }: { rule: string; scope: string }) => [rule, scope]),
      [['bash:git *', 'session']],
    );
  });

  it('errors: nobody by that id, an id that is missing, a question whose call is gone', async () => {
    const desk = deskWith([[bash('touch never')]], await database());
    const [ask] = await desk.open();
    const unknown = await desk.approvals('allow', 'zzzz');
    assert.equal(unknown.code, 3);
    assert.match(
      unknown.stderr,
      /^error: no approval "zzzz" \(E_ASK_NOT_FOUND\)\n {2}See: coppice approvals list\n$/,
    );
    const json = await desk.approvals('deny', 'zzzz', '--json');
    assert.equal(json.code, 3);
    assert.equal(JSON.parse(json.stdout).error.code, 'E_ASK_NOT_FOUND');
    assert.equal((await desk.approvals('allow')).code, 2);
    assert.equal((await desk.coppice('kill', 'main', '--yes')).code, 0);
    const gone = await desk.approvals('allow', ask?.id ?? '');
    assert.equal(gone.code, 1);
    assert.match(
      gone.stderr,
      /bash touch never, which was withdrawn \d+s ago; nothing was answered \(E_ASK_ANSWERED\)/,
    );
    assert.equal((await desk.run).code, 1);
    assert.equal(existsSync(join(desk.home.work, 'never')), false);
  });

  it('killed while it asks, allowed, resumed as the program says or without --ask: the allowed call runs once', async () => {
    for (const flags of [['--ask'], []]) {
      const desk = deskWith([[bash('echo ran >> log')]], await database());
      const [ask] = await desk.open();
      process.kill(desk.pid, 'SIGKILL');
      assert.equal((await desk.run).signal, 'SIGKILL');
      const allowed = await desk.approvals('allow', ask?.id ?? '');
      assert.equal(allowed.code, 0);
      // The next command is printed, since no process would continue the tree by itself.
      assert.equal(
        allowed.stderr,
        `no process leads it: resume it with coppice resume ${ask?.agent_id.slice(0, 8)} --ask\n`,
      );
      assert.equal(existsSync(join(desk.home.work, 'log')), false);
      const resumed = await desk.coppice('resume', ask?.agent_id.slice(0, 8) ?? '', ...flags);
      assert.equal(resumed.code, 0, resumed.stderr);
      assert.doesNotMatch(resumed.stdout, /nobody can give it/);
      assert.equal(readFileSync(join(desk.home.work, 'log'), 'utf8'), 'ran\n');
    }
  });

  it('answered while nobody runs it: resume goes on with the answer', async () => {
    const desk = deskWith([[bash('echo ran >> log')]], await database(), '--timeout', '3');
    const [ask] = await desk.open();
    const stopped = await desk.run;
    assert.equal(stopped.code, 124);
    assert.match(stopped.stderr, /continue with: coppice resume [0-9a-f]{8} --ask\n/);
    assert.equal((await desk.approvals('allow', ask?.id ?? '')).code, 0);
    assert.equal(existsSync(join(desk.home.work, 'log')), false);
    const resumed = await desk.coppice('resume', '--ask');
    assert.equal(resumed.code, 0);
    assert.equal(readFileSync(join(desk.home.work, 'log'), 'utf8'), 'ran\n');
  });
}

alwaysOnBothDatabases('coppice approvals', suite);
