/** Proves that /diff shows what the agents of a tree changed: by file and agent, using git where possible, and what else has changed. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import type { ScriptedRules } from '../../../src/models/scripted/scripted-rules.ts';
import { openUi } from './ui-stage.ts';

const RULES: ScriptedRules = {
  rules: [
    {
      when: { root: true, user: '^change', step: 0 },
      calls: [
        { name: 'read', input: { path: 'a.txt' } },
        { name: 'patch', input: { path: 'a.txt', edits: [{ old_text: 'two', new_text: 'zwei' }] } },
        { name: 'write', input: { path: 'made.txt', content: 'new' } },
        { name: 'bash', input: { command: 'echo three > b.txt' } },
        { name: 'fork', input: { name: 'kid', prompt: 'more' } },
      ],
    },
    { when: { root: true, user: '^change', step: 1 }, calls: [{ name: 'wait', input: { timeout: 30 } }] },
    {
      when: { agent: 'kid', step: 0 },
      calls: [
        { name: 'read', input: { path: 'a.txt' } },
        { name: 'patch', input: { path: 'a.txt', edits: [{ old_text: 'one', new_text: 'eins' }] } },
        { name: 'send', input: { to: '{{parent_id}}', message: 'changed' } },
      ],
    },
    { say: 'all done' },
  ],
};
const GIT_AS = ['-c', 'user.name=a', '-c', 'user.email=a@example.com'];

it('tells who changed which file, and what has changed otherwise', async (test) => {
  const ui = await openUi(test, RULES, { args: ['--allow', '*'], rows: 50 });
  const git = (...args: string[]) => execFileSync('git', [...GIT_AS, ...args], { cwd: ui.folder });
  await ui.say('/diff');
  await ui.pty.until('nothing was changed yet');
  writeFileSync(join(ui.folder, 'a.txt'), 'one\ntwo\n');
  writeFileSync(join(ui.folder, 'b.txt'), 'one\n');
  await ui.say('change them');
  await ui.pty.until('all done');
  // Without a repository, the reports of the tools are the only source.
  await ui.say('/diff');
  await ui.pty.until('a.txt  by main, kid');
  await ui.pty.until('created made.txt (3 bytes)');
  await ui.pty.until('commands may have changed more');

  writeFileSync(join(ui.folder, 'a.txt'), 'one\ntwo\n');
  writeFileSync(join(ui.folder, 'b.txt'), 'one\n');
  git('init', '-q');
  git('add', 'a.txt', 'b.txt');
  git('commit', '-qm', 'before');
  writeFileSync(join(ui.folder, 'a.txt'), 'eins\nzwei\n');
  writeFileSync(join(ui.folder, 'b.txt'), 'three\n');
  await ui.say('/diff');
  await ui.pty.until('@@ -1,2 +1,2 @@');
  await ui.pty.until('+zwei');
  await ui.pty.until('changed by commands, or by others: b.txt');
});
