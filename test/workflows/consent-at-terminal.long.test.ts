// Proves in a real terminal what a person is shown before `coppice workflow run` starts anything: the script, its phases, an estimate and the budget; and that only "y" starts it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { it } from 'node:test';
import { COMPILED } from '../house/compiled.ts';
import { MAIN } from '../house/program.ts';
import { hasTmux } from '../tui/terminal/tmux.ts';
import { until } from '../until.ts';
import { workflowHome } from './run-workflow.ts';

it('asks a person at a terminal', { skip: hasTmux() ? false : 'tmux is not installed' }, async (test) => {
  const home = workflowHome();
  const script = home.script('asked', "phase('Look'); return await agent('say looked')");
  const run = (...args: string[]) =>
    execFileSync('tmux', ['-L', `coppice-consent-${process.pid}`, '-f', '/dev/null', ...args], {
      encoding: 'utf8',
      env: { ...home.env, ...COMPILED, LANG: 'C.UTF-8', TERM: 'xterm-256color', PS1: 'shell$ ' },
    });
  test.after(() => void run('kill-server'));
  run('new-session', '-d', '-x', '120', '-y', '50', '-c', home.work, 'bash', '--norc', '-i');
  const screen = () => run('capture-pane', '-p', '-S', '-').replaceAll(/\n+/g, '\n');
  const sees = (text: string) => until(() => screen().includes(text), `${text}\n${screen()}`);
  const asks = async (budget: string, ...more: string[]) => {
    const words = [process.execPath, MAIN, 'workflow', 'run', script, ...more];
    run('send-keys', '-l', words.map((word) => `'${word}'`).join(' '));
    run('send-keys', 'Enter');
    await until(
      () => screen().trimEnd().endsWith(`\nbudget, ${budget}\nRun it? [y] run  [N] no:`),
      'it asks',
    );
    return screen();
  };
  await sees('shell$');

  const shown = await asks('tree: 5,000 tokens', '--limit', 'tokens=5000');
  for (const line of ["agent('say looked')", 'Workflow asked', 'Look: 1', 'starts 1 agent'])
    assert.ok(shown.includes(line), `${line}\n${shown}`);
  run('send-keys', 'n', 'Enter');
  await sees('was not started: you said no');
  // What is typed before the program has ended may be read by it.
  await until(() => screen().trimEnd().endsWith('shell$'), 'the shell is back');

  await asks('tree: $5, 2,000,000 tokens');
  run('send-keys', 'y', 'Enter');
  await sees('\nlooked');
  const { runs } = await home.json('workflow', 'list', '--runs');
  assert.equal((runs as object[]).length, 1);
});
