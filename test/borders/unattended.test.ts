/**
 * Proves that programs which want a person end at once, in words that say how to do without one, while ordinary work goes on: what git proposes is accepted, and
 * an editor that the command, its configuration on the command line or the user names is used.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { createBashTool } from '../../src/tools/bash.ts';
import { NO_SANDBOX, testSandbox } from '../processes/sandbox/test-sandbox.ts';
import { call, makeWorkspace } from '../tools/tool-fixture.ts';

const BEGIN =
  'git init -q -b main; git config user.email a@example.org; git config user.name n; git config core.editor vim; echo 1 > f; git add f; git commit -qm one; echo 2 > g; git add g; git commit -qm two;';

const bash = createBashTool(null);
/** Fails long before the timeout of the test runner, and with what the command waits for. */
const run = (command: string, context = makeWorkspace()) =>
  call(bash, { command: `${BEGIN} ${command}`, timeout: 20 }, context);

/** What fails, and how the result says to do it. */
const REFUSED: readonly (readonly [command: string, advice: RegExp])[] = [
  ['echo x >> f; git commit -a', /no person to edit COMMIT_EDITMSG: give the text with -m TEXT or -F FILE/],
  ['echo x >> f; git commit -av', /-m TEXT/],
  ["git config core.commentChar ';'; git commit --allow-empty", /-m TEXT/],
  ['git config core.commentChar auto; git commit --allow-empty', /-m TEXT/],
  ['git tag -a v1', /TAG_EDITMSG: give the text with -m/],
  ['git notes add', /NOTES_EDITMSG: give the text with -m/],
  ['git branch --edit-description; exit 1', /EDIT_DESCRIPTION/],
  ['git rebase -i HEAD~1', /git-rebase-todo: change the list with GIT_SEQUENCE_EDITOR/],
  ['git config sequence.editor vim; git rebase -i --root', /git-rebase-todo/],
  ['echo x >> f; git add -e', /ADD_EDIT.patch: write the file without an editor/],
  ['git config -e; exit 1', /config: write the file without an editor/],
  ['$EDITOR /etc/crontab', /crontab FILE/],
  ['vim f', /no person is there.*needs no terminal/],
  ['python3 -c "input()"', /no person is there.*--yes/],
  ['read -rp "Sure? " answer || exit 1', /no person is there.*--yes/],
  ["printf 'Proceed (y/N)? '; read -r answer", /no person is there.*--yes/],
  ['head -c 1 <&1; head -c 1 <&2; exec < /dev/tty', /no person is there.*needs no terminal/],
  ['git ls-remote https://user@localhost:1/x.git', /./],
  ["printf 'Your name: '; read -r answer", /no person is there.*--yes/],
  ['npm init', /no person is there.*npm init -y/],
];

/** What goes on, and the subjects of the commits afterwards. */
const ACCEPTED: readonly (readonly [command: string, log: string])[] = [
  ['git commit -q --allow-empty -m "three"', 'three two one'],
  ['git commit --amend', 'two one'],
  ['git revert HEAD', 'Revert_"two" two one'],
  ['git revert --edit HEAD', 'Revert_"two" two one'],
  ['git cherry-pick -e HEAD --allow-empty --keep-redundant-commits', 'two two one'],
  [
    'git checkout -qb b HEAD~1; echo 3 > h; git add h; git commit -qm three; git merge --edit main',
    "Merge_branch_'main'_into_b three one",
  ],
  [
    'git checkout -qb b HEAD~1; echo 3 > g; git add g; git commit -qm three; git merge main; echo 4 > g; git add g; git merge --continue',
    "Merge_branch_'main'_into_b three one",
  ],
  [
    'git checkout -qb b HEAD~1; echo 3 > g; git add g; git commit -qm three; git rebase main; echo 4 > g; git add g; git rebase --continue',
    'three two one',
  ],
  ['echo 5 >> g; git commit -qam "fixup! two"; git rebase -i --autosquash --root', 'two one'],
  ['git rebase -i --exec true HEAD~1', 'two one'],
  ["GIT_SEQUENCE_EDITOR='sed -i 2s/pick/fixup/' git rebase -i --root", 'one'],
  ["git -c sequence.editor='sed -i 2s/pick/drop/' rebase -i --root", 'one'],
  ["GIT_EDITOR='sed -i 1s/.*/new/' git commit --amend", 'new one'],
  ["EDITOR='sed -i 1s/.*/new/' git commit --amend", 'new one'],
  ["VISUAL='sed -i 1s/.*/new/' git commit --amend", 'new one'],
  ["git -c core.editor='sed -i 1s/.*/new/' commit --amend", 'new one'],
  ["EDITOR='echo new >' git commit --allow-empty", 'new two one'],
];

describe('without a person, and in time', () => {
  for (const [command, advice] of REFUSED)
    it(`${command} says how to do it`, async () => {
      const result = await run(command);
      assert.equal(result.status, 'error');
      assert.match(result.output, advice);
      assert.ok(!/stopped after/.test(result.output) && !result.output.includes('\x1b'), result.output);
    });

  for (const [command, log] of ACCEPTED)
    it(`${command} goes on`, async () => {
      const context = makeWorkspace();
      const result = await run(command, context);
      assert.equal(result.status, 'ok', result.output);
      const subjects = execFileSync('git', ['log', '--first-parent', '--pretty=%s'], {
        cwd: context.cwd,
        encoding: 'utf8',
      });
      assert.equal(subjects.trim().replaceAll(' ', '_').split('\n').join(' '), log);
    });

  for (const command of [
    'ls /etc/passwd: none',
    'echo cannot proceed; exit 1',
    'echo failed:; exit 1',
    'false',
  ])
    it(`${command} is no question`, async () => {
      const { status, output } = await run(command);
      assert.equal(status, 'error');
      assert.doesNotMatch(output, /no person/);
    });

  it('text that is used as proposed is told, and what the user passes on is used', async (t) => {
    assert.match(
      (await run('git commit --amend')).output,
      /COMMIT_EDITMSG is used as proposed: there is no person/,
    );
    t.after(() => delete process.env.GIT_EDITOR);
    process.env.GIT_EDITOR = 'sed -i 1s/.*/own/';
    const { output } = await run('git commit --amend', makeWorkspace(['GIT_EDITOR']));
    assert.match(output, /own/);
  });
});

describe('in the sandbox', { skip: NO_SANDBOX }, () => {
  for (const [command, said] of [
    ['git commit --allow-empty', /-m TEXT/],
    ['npm init', /npm init -y/],
    ['npx surely-not-installed-3f8a', /EAI_AGAIN|ENOTCACHED|ENETUNREACH/],
    ['vim f', /needs no terminal/],
  ] as const)
    it(`${command} ends at once`, async () => {
      const context = makeWorkspace();
      execFileSync('/bin/sh', ['-c', BEGIN], { cwd: context.cwd });
      const { output } = await call(createBashTool(testSandbox()), { command, timeout: 20 }, context);
      assert.match(output, said);
      assert.doesNotMatch(output, /stopped after/);
    });
});
