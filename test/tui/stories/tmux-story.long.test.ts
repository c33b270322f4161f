/** Proves the main story in tmux, a terminal that behaves differently: fork, visit, ask, kill, detach and return, with a complete scrollback. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import type { ScriptedRules } from '../../../src/models/scripted/scripted-rules.ts';
import { COMPILED } from '../../house/compiled.ts';
import { MAIN } from '../../house/program.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { until } from '../../until.ts';
import { hasTmux } from '../terminal/tmux.ts';

const RULES: ScriptedRules = {
  rules: [
    {
      when: { root: true, user: '^split', tool: 'wait' },
      say: 'All in:{{#each results.wait.-1.results}} {{.name}}={{.status}}{{/each}}',
    },
    {
      when: { root: true, user: '^split', tool: 'fork' },
      calls: [{ name: 'wait', input: { timeout: 60, from_agents: '{{results.fork.*.agent_id}}' } }],
    },
    {
      when: { root: true, user: '^split' },
      say: 'Split.',
      calls: ['reader', 'tester'].map((name) => ({ name: 'fork', input: { name, prompt: 'be' } })),
    },
    { when: { root: true }, say: 'You said: {{user}}' },
    { when: { user: 'Enumerate' }, say: 'I enumerate as told.' },
    { when: { agent: 'tester', step: 0 }, say: 'never', delay_ms: 600_000 },
    { when: { agent: 'reader', step: 0 }, calls: [{ name: 'bash', input: { command: 'echo read' } }] },
    {
      when: { agent: 'reader', step: 1 },
      calls: [{ name: 'send', input: { to: '{{parent_id}}', message: 'got {{result}}' } }],
    },
    { say: '{{agent.name}} rests.' },
  ],
};

it('works in tmux, with the keys that tmux sends and a window that is resized', {
  skip: hasTmux() ? false : 'tmux is not installed',
}, async (test) => {
  const folder = temporaryFolder();
  const rules = join(folder, 'rules.json');
  writeFileSync(rules, JSON.stringify(RULES));
  const env = {
    PATH: process.env.PATH,
    ...COMPILED,
    HOME: folder,
    XDG_CONFIG_HOME: folder,
    XDG_DATA_HOME: folder,
    LANG: 'C.UTF-8',
    TERM: 'xterm-256color',
    PS1: 'shell$ ',
    COPPICE_SANDBOX: 'off',
  };
  const run = (...args: string[]) =>
    execFileSync('tmux', ['-L', `coppice-story-${process.pid}`, '-f', '/dev/null', ...args], {
      encoding: 'utf8',
      env,
    });
  test.after(() => {
    run('kill-server');
  });
  const screen = () =>
    run('capture-pane', '-p')
      .split('\n')
      .map((line) => line.trimEnd());
  const sees = (text: string) => until(() => screen().some((line) => line.includes(text)), text);
  const say = async (text: string) => {
    run('send-keys', '-l', text);
    // A person's Enter does not arrive together with the last letter.
    await until(() => screen().some((line) => line.startsWith(`> ${text}`)), `typed: ${text}`);
    run('send-keys', 'Enter');
  };
  run('new-session', '-d', '-x', '90', '-y', '28', '-c', folder, 'bash', '--norc', '-i');
  await sees('shell$');
  const start = [
    process.execPath,
    MAIN,
    '--database',
    `sqlite:${join(folder, 'ledger.db')}`,
    '--model',
    `scripted:${rules}`,
  ];
  const type = (words: readonly string[]) =>
    run('send-keys', '-l', words.map((word) => `'${word}'`).join(' '));
  type(start);
  run('send-keys', 'Enter');
  await sees('Ctrl-X a agents');
  await say('hello');
  await sees('You said: hello');
  await say('split it');
  await sees('main › reader wants: bash');
  await new Promise((resolve) => setTimeout(resolve, 500));
  run('send-keys', 'C-x', 'y');
  await until(() => /1 received[\s\S]*✓ reader/.test(screen().join('\n')), 'received');
  run('send-keys', 'C-Down');
  await sees('[1 reader]');
  run('send-keys', 'C-Right');
  await sees('[2 tester]');
  run('resize-window', '-x', '60', '-y', '20');
  run('send-keys', 'C-Up');
  await sees('[0 main]');
  run('resize-window', '-x', '90', '-y', '28');
  run('send-keys', 'C-x', 'k');
  await sees('Kill main and 2 descendants');
  run('send-keys', 'n');
  // A letter answers only if no other key follows at once.
  await until(() => !screen().join('\n').includes('Kill main'), 'nobody is killed');
  run('send-keys', 'M-2');
  await sees('[2 tester]');
  run('send-keys', 'C-x', 'k');
  await sees('Kill tester?');
  run('send-keys', 'y');
  await sees('All in: reader=received tester=dead');
  await say('/capture');
  await sees('not sent to main');
  run('send-keys', '-l', 'Enumerate all files');
  await sees('┆ Enumerate all files');
  run('send-keys', 'Enter');
  await sees('CAPTURE · 1 line');
  run('send-keys', '-l', '/fork');
  await sees('┆ /fork');
  run('send-keys', 'Enter');
  await sees('I enumerate as told.');
  run('send-keys', 'M-0');
  await sees('[0 main]');
  await say('/reap');
  await sees('removed 1 dead');
  await say('/quit');
  await sees('come back with: coppice --tree');
  type([...start, '--continue']);
  run('send-keys', 'Enter');
  await until(() => screen().some((line) => line.includes('[0 main]')), 'opened again');
  const whole = () => run('capture-pane', '-p', '-S', '-').split('\n');
  // Once from before, once shown again.
  for (const text of ['You said: hello', 'All in: reader=received tester=dead'])
    await until(() => whole().filter((line) => line.startsWith(text)).length === 2, `twice: ${text}`);
  assert.equal(whole().filter((line) => line.includes('[0 main]')).length, 1, whole().join('\n'));
});
