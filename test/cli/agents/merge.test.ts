// Proves, on both databases and with real git, that `coppice merge` keeps merges that succeed, undoes those that fail, tells the authors, and never touches
// what a person has not committed.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { ProcessLock } from '../../../src/processes/process-lock.ts';
import { onBothDatabases } from '../../runtime/both-databases.ts';
import { runGit } from '../../runtime/worktree/git-repository.ts';
import { makeHome } from '../run-cli.ts';

const fork = (name: string) => ({ name: 'fork', input: { name, prompt: `be ${name}`, worktree: true } });
/** An existing file must be read before it may be written. */
const writes = (agent: string, path: string, content: string) => [
  { when: { agent, step: 0 }, calls: [{ name: 'read', input: { path } }] },
  { when: { agent, step: 1 }, calls: [{ name: 'write', input: { path, content } }] },
];
const RULES = {
  rules: [
    {
      when: { root: true, step: 0 },
      calls: [
        ...['adds', 'edits', 'clashes', 'breaks', 'idles'].map(fork),
        { name: 'fork', input: { name: 'plain', prompt: 'x' } },
      ],
    },
    ...writes('adds', 'new.txt', 'new\n'),
    ...writes('edits', 'shared.txt', 'edited\n'),
    ...writes('clashes', 'shared.txt', 'clashed\n'),
    ...writes('breaks', 'bad.txt', 'bad\n'),
    { say: 'done' },
  ],
};

onBothDatabases('coppice merge', (database) => {
  it('merges one after the other, returns conflicts and failed tests to their authors, and merges them once they are resolved', async () => {
    const home = makeHome();
    const rules = join(home.folder, 'rules.json');
    writeFileSync(rules, JSON.stringify(RULES));
    writeFileSync(join(home.work, 'shared.txt'), 'one\n');
    const git = (...args: string[]) => runGit(home.work, ...args);
    git('init', '--quiet', '--initial-branch', 'main');
    git('add', '--all');
    git('commit', '--quiet', '--message', 'first');
    home.configure({ merge: { test: 'echo tested; test ! -e bad.txt' } });
    const url = await database();
    const env = url === undefined ? {} : { DATABASE_URL: url };
    const coppice = (...args: string[]) => home.run(args, { env });
    const ran = await coppice('run', 'go', '--allow', 'write', '--model', `scripted:${rules}`);
    assert.equal(ran.code, 0, ran.stderr);
    const merge = async (...names: string[]) => {
      const { code, stdout, stderr } = await coppice('merge', ...names, '--json');
      return { code, stderr, document: stdout === '' ? null : JSON.parse(stdout) };
    };
    const show = async (name: string) => JSON.parse((await coppice('show', name, '--json')).stdout);

    // Uncommitted changes stay as they are, and no merge starts.
    writeFileSync(join(home.work, 'shared.txt'), 'mine\n');
    const dirty = await coppice('merge', 'adds');
    assert.deepEqual([dirty.code, dirty.stdout], [1, '']);
    assert.match(dirty.stderr, /work has changes that are not committed: shared\.txt/);
    assert.match(dirty.stderr, /Commit them, or set them aside/);
    assert.equal(readFileSync(join(home.work, 'shared.txt'), 'utf8'), 'mine\n');
    git('checkout', '--quiet', 'shared.txt');

    const first = await merge('adds', 'edits', 'clashes', 'breaks', 'idles', 'adds');
    assert.equal(first.code, 1, first.stderr);
    assert.deepEqual(
      first.document.merges.map((row: Record<string, unknown>) => [
        row.name,
        row.status,
        row.files,
        row.error,
      ]),
      [
        ['adds', 'merged', [], null],
        ['edits', 'merged', [], null],
        ['clashes', 'conflict', ['shared.txt'], 'conflicts'],
        ['breaks', 'test_failed', [], 'exit 1'],
        ['idles', 'unchanged', [], null],
      ],
    );
    assert.equal(first.document.merges[1].commit, git('rev-parse', 'HEAD').trim());
    assert.equal(git('status', '--porcelain'), '');
    assert.equal(readFileSync(join(home.work, 'shared.txt'), 'utf8'), 'edited\n');
    assert.deepEqual(
      [existsSync(join(home.work, 'new.txt')), existsSync(join(home.work, 'bad.txt'))],
      [true, false],
    );
    assert.match(first.stderr, /kept in the mailbox of clashes; .*resume/);

    const [clashes, breaks, adds] = [await show('clashes'), await show('breaks'), await show('adds')];
    assert.deepEqual(
      [clashes.pending_mail.length, breaks.pending_mail.length, adds.pending_mail.length],
      [1, 1, 0],
    );
    const [{ body }] = clashes.pending_mail;
    assert.match(
      body,
      /could not be merged into main of .*conflicts in shared\.txt.*git merge [0-9a-f]{40}/s,
    );
    assert.match(body, /\+\+<<<<<<< HEAD\n \+edited\n.*\n\+ clashed\n/s);
    assert.match(breaks.pending_mail[0].body, /the test failed \(exit 1\).*test ! -e bad\.txt.*\ntested\n/s);

    // The author follows the letter's instructions in its worktree.
    const [, order = ''] = /with: git (merge [0-9a-f]{40}),/.exec(body) ?? [];
    const { path } = clashes.worktree;
    assert.throws(() => runGit(path, ...order.split(' ')));
    const halfway = await merge('clashes');
    assert.match(
      halfway.document.merges[0].error,
      /^conflicts in shared\.txt are not resolved, so its folder stays/,
    );
    writeFileSync(join(path, 'shared.txt'), 'edited and clashed\n');
    const again = await coppice('merge', 'clashes', 'adds');
    assert.equal(again.code, 0, again.stderr);
    assert.match(
      again.stdout,
      /^clashes \(coppice\/\S+\): merged as [0-9a-f]{12}\nadds \(coppice\/\S+\): nothing new\n$/,
    );
    assert.equal(readFileSync(join(home.work, 'shared.txt'), 'utf8'), 'edited and clashed\n');

    for (const [names, code, message] of [
      [['plain'], 2, /plain has no worktree/],
      [['nobody'], 3, /nobody/],
    ] as const) {
      const refused = await coppice('merge', ...names);
      assert.equal(refused.code, code);
      assert.match(refused.stderr, message);
    }

    // A merge that a person has begun is left alone, even if the index equals the last commit.
    git('branch', 'side', 'HEAD~1');
    git('checkout', '--quiet', 'side');
    git('commit', '--quiet', '--allow-empty', '--message', 'aside');
    git('checkout', '--quiet', 'main');
    git('merge', '--quiet', '--strategy', 'ours', '--no-commit', 'side');
    const begun = await coppice('merge', 'breaks');
    assert.deepEqual([begun.code, begun.stdout], [1, '']);
    assert.match(begun.stderr, /work is in the middle of a merge.*git merge --abort/s);
    assert.equal(git('rev-parse', 'MERGE_HEAD'), git('rev-parse', 'side'));
    git('merge', '--abort');
    git('branch', '--quiet', '-D', 'side');

    const other = new ProcessLock(join(home.work, '.git', 'coppice-merge'));
    assert.ok(other.take());
    const locked = await coppice('merge', 'breaks');
    other.close();
    assert.deepEqual([locked.code, locked.stdout], [1, '']);
    assert.match(locked.stderr, /another coppice merge is running in .*work/);

    git('config', 'filter.x.clean', 'false');
    assert.match((await coppice('merge', 'breaks')).stderr, /\(filter\.x\.clean\) name a program.*by hand/s);
    git('config', '--unset', 'filter.x.clean');
    // An untracked file of the person is in the way: git refuses, and the file stays.
    writeFileSync(join(home.work, 'bad.txt'), 'mine\n');
    const inTheWay = await merge('breaks');
    assert.deepEqual([inTheWay.code, inTheWay.document.merges[0].status], [1, 'failed']);
    assert.match(inTheWay.document.merges[0].error, /untracked.*bad\.txt/s);
    assert.equal(readFileSync(join(home.work, 'bad.txt'), 'utf8'), 'mine\n');
  });

  it('writes to the parent of an author that has ended, whose work is kept', async () => {
    const home = makeHome();
    const rules = join(home.folder, 'rules.json');
    writeFileSync(rules, JSON.stringify(RULES));
    writeFileSync(join(home.work, 'shared.txt'), 'one\n');
    runGit(home.work, 'init', '--quiet', '--initial-branch', 'main');
    runGit(home.work, 'add', '--all');
    runGit(home.work, 'commit', '--quiet', '--message', 'first');
    home.configure({ merge: { test: 'sleep 60', timeout_seconds: 0.2 } });
    const url = await database();
    const env = url === undefined ? {} : { DATABASE_URL: url };
    const coppice = (...args: string[]) => home.run(args, { env });
    await coppice('run', 'go', '--allow', 'write', '--model', `scripted:${rules}`);
    await coppice('kill', 'adds', '-y');
    const { code, stdout } = await coppice('merge', 'adds');
    assert.equal(code, 1);
    assert.match(
      stdout,
      /^adds \(\S+\): the test failed \(not done after 0\.2 s\), not merged; agent \w+ was told\n$/,
    );
    assert.deepEqual(
      [runGit(home.work, 'status', '--porcelain'), existsSync(join(home.work, 'new.txt'))],
      ['', false],
    );
    const main = JSON.parse((await coppice('show', 'main', '--json')).stdout);
    assert.match(main.pending_mail[0].body, /With the branch \S+ of "adds" merged into main/);
  });
});
