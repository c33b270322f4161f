/**
 * Proves what a person sees of a workflow before a model may start it, that an answer binds to exactly that script in that folder, and that scripts which a project
 * brings are inert until they are trusted as they are.
 */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { until } from '../until.ts';
import { META } from './played-script.ts';
import { RULES, type WorkflowHome, workflowHome } from './run-workflow.ts';

interface Asked {
  readonly id: string;
  readonly subject: string;
  readonly rule: string;
  readonly difference: string;
}

const named = (name: string, body: string) => META.replace("'test'", `'${name}'`) + body;
const LONG = Array.from(
  { length: 4_000 },
  (_, line) => `// line ${line} of many, none of which may be left out`,
);
const BODY = `phase('Look'); await agent('say one'); await parallel([1, 2].map((n) => () => agent('say ' + n, { phase: 'Check' })));\n${LONG.join('\n')}\nreturn 'ran'`;

function homeWith(input: object): WorkflowHome {
  const home = workflowHome([
    { when: { user: '^start', step: 0 }, calls: [{ name: 'workflow', input }] },
    { when: { user: 'Subagent: ' }, say: 'heard: {{user}}' },
    { when: { tool: 'workflow' }, say: 'called: {{result}}' },
    ...RULES,
  ]);
  mkdirSync(join(home.work, '.coppice', 'workflows'), { recursive: true });
  return home;
}

const save = (home: WorkflowHome, name: string, body: string, folder = home.work) =>
  writeFileSync(join(folder, '.coppice', 'workflows', `${name}.js`), named(name, body));

async function asked(home: WorkflowHome): Promise<Asked> {
  const open = async () =>
    (await home.json('approvals').catch(() => ({ approvals: [] }))).approvals as readonly Asked[];
  await until(async () => (await open()).length === 1, 'the question');
  return (await open())[0] as Asked;
}

const START = ['run', 'start', '--toolset', 'workflow', '--json'] as const;
const replyOf = ({ stdout, stderr }: { stdout: string; stderr: string }) => {
  assert.match(stdout, /"reply"/, stdout + stderr);
  return JSON.parse(stdout).reply as string;
};
const answer = async (home: WorkflowHome, ...words: readonly string[]) => {
  const { code, stderr } = await home.run(['approvals', ...words]);
  return { code, stderr };
};

describe('a model wants to start a workflow', { concurrency: 2 }, () => {
  it('the person sees what it is, its phases, agents and budget, and every line; "always" is for this script in this folder', async () => {
    const home = homeWith({ name: 'audit', args: { n: 1 } });
    save(home, 'audit', BODY);
    await home.run(['trust', '--yes']);
    const first = home.start([...START, '--ask', '--limit', 'tokens=90000']);
    const { id, subject, difference } = await asked(home);
    assert.match(subject, /^audit@[0-9a-f]{32}$/);
    assert.match(difference, / {2}Look: 1\n {2}Check: 2\nstarts 3 agents; no history for /);
    assert.match(difference, /\nbudget, tree: .* of 90,000 tokens used/);
    for (const line of LONG) assert.ok(difference.includes(`\n+${line}\n`), line);

    for (const wide of ['workflow', 'workflow:*', 'workflow:audit', 'workflow:audit@*']) {
      const { code, stderr } = await answer(home, 'allow', id, '--always', '--rule', wide);
      assert.notEqual(code, 0, wide);
      assert.match(stderr, /does not match this call|not about|invalid/, wide);
    }
    assert.deepEqual(await answer(home, 'allow', id, '--always', '--rule', `workflow:${subject}`), {
      code: 0,
      stderr: '',
    });
    assert.match(replyOf(await first.ended), /heard: [\s\S]*ran/);
    const { stdout: rules } = await home.run(['approvals', 'rules', 'list']);
    assert.ok(rules.includes(`workflow:${subject}`), rules);

    assert.match(replyOf(await home.run([...START, '--ask'])), /heard: [\s\S]*ran/, 'the same script');
    save(home, 'audit', `${BODY}.length`);
    await home.run(['trust', '--yes']);
    const changed = home.start([...START, '--ask']);
    const again = await asked(home);
    assert.notEqual(again.subject, subject);
    await answer(home, 'deny', again.id);
    assert.match(replyOf(await changed.ended), /called: .*denied/i);
    save(home, 'audit', BODY);
    await home.run(['trust', '--yes']);
    const elsewhere = join(home.work, 'inner');
    mkdirSync(elsewhere);
    const other = home.start([...START, '--ask', '--cwd', elsewhere]);
    assert.equal((await asked(home)).subject, subject, 'another folder');
    await answer(home, 'deny', (await asked(home)).id);
    await other.ended;
  });

  it('a script that changes while the question waits is not run', async () => {
    const home = homeWith({ scriptPath: 'mine.js' });
    writeFileSync(join(home.work, 'mine.js'), named('mine', "return 'harmless'"));
    const { ended } = home.start([...START, '--ask']);
    const { id } = await asked(home);
    writeFileSync(join(home.work, 'mine.js'), named('mine', "return 'other'"));
    await answer(home, 'allow', id);
    assert.match(replyOf(await ended), /^called: The script changed after a person allowed it/);
  });

  it('what it runs in turn is shown with it, and not run if it changes while the question waits', async () => {
    const home = homeWith({ script: named('outer', "return await workflow('./inner.js')") });
    const inner = (text: string) => home.script('inner', `return '${text}'`);
    inner('harmless');
    const first = home.start([...START, '--ask']);
    const { id, difference } = await asked(home);
    assert.ok(difference.includes('\n+// ./inner.js, which it may run:\n+export const meta'), difference);
    assert.ok(difference.includes("\n+return 'harmless'"), difference);
    inner('other');
    await answer(home, 'allow', id);
    assert.match(replyOf(await first.ended), /^called: The script changed after a person allowed it/);

    const second = home.start([...START, '--ask']);
    const { id: again, subject } = await asked(home);
    await answer(home, 'allow', again, '--always', '--rule', `workflow:${subject}`);
    assert.match(replyOf(await second.ended), /heard: [\s\S]*other/);
    inner('third');
    const third = home.start([...START, '--ask']);
    const { id: last, subject: changed } = await asked(home);
    assert.notEqual(changed, subject, 'what was allowed from now on is what it ran then');
    await answer(home, 'deny', last);
    await third.ended;
  });

  it('what is past counts: an estimate for its agents from this ledger', async () => {
    const home = homeWith({ script: named('small', "return await agent('say x')") });
    await home.workflow("return await parallel([1, 2, 3].map((n) => () => agent('say ' + n)))");
    const { ended } = home.start([...START, '--ask']);
    const { id, difference } = await asked(home);
    assert.match(difference, /starts 1 agent; probably .*tokens \(nine of ten at most/);
    await answer(home, 'deny', id);
    await ended;
  });

  it('reads no file that it may not read, as a script or otherwise', async () => {
    for (const scriptPath of ['../outside.js', 'secret/s.js', '/etc/hostname']) {
      const home = homeWith({ scriptPath });
      writeFileSync(join(home.folder, 'outside.js'), named('outside', "return 'read'"));
      mkdirSync(join(home.work, 'secret'));
      writeFileSync(join(home.work, 'secret', 's.js'), named('s', "return 'read'"));
      const said = replyOf(await home.run([...START, '--yes', '--deny', 'read:secret/**']));
      assert.match(said, /^called: .*(outside|denied by the rule)/, scriptPath);
    }
  });
});

describe('a project brings a workflow', { concurrency: 2 }, () => {
  it('it is inert by its name until it is trusted, for models, people and other workflows, and again when it changes', async () => {
    const home = homeWith({ name: 'brought' });
    const outer = home.script('outer', "return await workflow('brought')");
    const all = () =>
      Promise.all([
        home.run([...START, '--yes']).then(replyOf),
        home.run(['workflow', 'run', 'brought', '--yes']).then(({ stdout, stderr }) => stdout + stderr),
        home.run(['workflow', 'run', outer, '--yes']).then(({ stdout, stderr }) => stdout + stderr),
        home.run(['workflow', 'list']).then(({ stdout }) => stdout),
      ]);
    save(home, 'brought', "return 'BROUGHT'");
    const notice = await home.run(['run', 'hello']);
    assert.match(notice.stderr, /ignored: \.coppice\/workflows\/brought\.js \(not trusted\).*coppice trust/);
    for (const said of await all()) assert.match(said, /not trusted as it is now/);

    // One of the home folder with its name is not taken instead.
    mkdirSync(join(home.folder, '.coppice', 'workflows'), { recursive: true });
    save(home, 'brought', "return 'OWN'", home.folder);
    for (const said of await all()) assert.match(said, /not trusted as it is now/);

    const { stdout } = await home.run(['trust', '--yes']);
    assert.match(stdout, /\.coppice\/workflows\/brought\.js\n {2}workflow +a script of 2 lines/);
    const [reply, run, within, list] = await all();
    for (const said of [reply, run, within]) assert.match(said, /BROUGHT/);
    assert.match(list, /^brought {2}\S/m);

    save(home, 'brought', "return 'CHANGED'");
    for (const said of await all()) assert.match(said, /not trusted as it is now/);
  });

  it('those of the home folder need no trust, nor does a path that a person names', async () => {
    const home = homeWith({ name: 'own' });
    mkdirSync(join(home.folder, '.coppice', 'workflows'), { recursive: true });
    save(home, 'own', "return 'OWN'", home.folder);
    assert.match((await home.run(['workflow', 'run', 'own', '--yes'])).stdout, /OWN/);
    save(home, 'mine', "return 'MINE'");
    const path = join(home.work, '.coppice', 'workflows', 'mine.js');
    assert.match((await home.run(['workflow', 'run', path, '--yes'])).stdout, /MINE/);
  });
});
