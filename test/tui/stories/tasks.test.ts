/**
 * Proves that people see the state of the shared task list while agents work on it: below the children, in the list of agents and by /tasks; a killed
 * agent's task becomes open again.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { KEY, openUi } from './ui-stage.ts';

const call = (name: string, input: Record<string, unknown> = {}) => ({ name, input });

it('the list is below the children, in the list of agents and in the conversation', async (test) => {
  const rules = {
    rules: [
      {
        when: { agent: 'main', user: '^share', step: 0 },
        calls: [
          call('task_add', { title: 'read the routes' }),
          call('task_add', { title: 'write the page', depends_on: [1] }),
          call('task_add', { title: 'measure the start' }),
          call('fork', { name: 'kid', prompt: 'work' }),
        ],
      },
      { when: { agent: 'kid', step: 0 }, calls: [call('task_claim')] },
      { when: { agent: 'kid', step: 1 }, say: 'never', delay_ms: 600_000 },
      { when: { agent: 'main', user: '^finish', step: 2 }, calls: [call('task_claim', { number: 3 })] },
      {
        when: { agent: 'main', user: '^finish', step: 3 },
        calls: [call('task_done', { number: 3, result: '70 ms' })],
      },
      { say: 'Shared.' },
    ],
  };
  const args = ['--toolset', 'process', '--toolset', 'tasks'];
  const ui = await openUi(test, rules, { args });
  await ui.say('share it');
  await ui.pty.until('tasks: 1 open · 1 blocked · 1 claimed: kid 1');
  const rows = ui.pty.screen();
  const place = rows.findIndex((row) => row.includes('tasks: '));
  assert.match(rows[place - 1] ?? '', /◐ kid /, 'below the children');
  await ui.press(KEY.leader, 'a');
  await ui.pty.until('Agents 2');
  assert.match(ui.pty.screen().join('\n'), /└1 kid .*\n {2}tasks: 1 open · 1 blocked · 1 claimed: kid 1\n/);
  await ui.press(KEY.escape);
  await ui.gone('Agents 2');
  await ui.say('finish one');
  await ui.pty.until('tasks: 1 blocked · 1 done · 1 claimed: kid 1');
  await ui.say('/tasks');
  await ui.pty.until('measure the start → 70 ms');
  assert.match(
    ui.pty.screen().join('\n'),
    /1 +claimed +kid +read the routes\n +2 +blocked +write the page \(after 1\)/,
  );
  await ui.say('/kill kid');
  await ui.pty.until('Kill kid');
  await ui.press('y', KEY.enter);
  await ui.gone('claimed: kid');
  await ui.press(KEY.leader, 'a');
  await ui.pty.until('tasks: 1 open · 1 blocked · 1 done');
});
