/**
 * Proves the main story (docs/tui.md) with the real program in a real terminal: a fan-in with three children live, visits by every route,
 * capture and fork, kill and reap.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ScriptedRules } from '../../../src/models/scripted/scripted-rules.ts';
import { KEY, openUi } from './ui-stage.ts';

const RULES: ScriptedRules = {
  rules: [
    {
      when: { root: true, user: 'split', tool: 'wait' },
      say: 'All in:{{#each results.wait.-1.results}} {{.name}}={{.status}}{{/each}}',
    },
    {
      when: { root: true, user: 'split', tool: 'fork' },
      calls: [{ name: 'wait', input: { timeout: 60, from_agents: '{{results.fork.*.agent_id}}' } }],
    },
    {
      when: { root: true, user: 'split' },
      say: 'I split the work.',
      calls: ['file-reader', 'code-analyzer', 'test-runner'].map((name) => ({
        name: 'fork',
        input: { name, prompt: `be ${name}` },
      })),
    },
    { when: { root: true }, say: 'You said: {{user}}' },
    { when: { user: 'Enumerate' }, say: 'I enumerate as told.' },
    { when: { user: 'wake up' }, say: 'Awake now.' },
    { when: { agent: 'test-runner', step: 0 }, say: 'still testing', delay_ms: 600_000 },
    { when: { agent: 'code-analyzer', step: 0 }, say: 'Nothing to report.' },
    {
      when: { agent: 'file-reader', step: 0 },
      calls: [{ name: 'send', input: { to: '{{parent_id}}', message: 'read all' } }],
    },
    { say: 'Reported.' },
  ],
};

it('three children are shown in the status layer, visited by chord, leader key, command and slot, killed and reaped', async (test) => {
  const ui = await openUi(test, RULES);
  const { pty } = ui;
  await ui.say('hello');
  await pty.until('You said: hello');
  await ui.say('split it');
  await pty.until('wait 3 agents');
  await pty.until('1 received · 1 at work · 1 idle');
  await pty.until('◐ test-runner  thinking');
  await pty.until('○ code-analyzer  ✓ file-reader');

  await ui.press(KEY.ctrl_down);
  await pty.until('[1 file-reader]');
  assert.ok(pty.alternate, 'another agent fills the alternate screen');
  await ui.press(KEY.ctrl_right);
  await pty.until('[2 code-analyzer]');
  await pty.until('Nothing to report.');
  await ui.press(KEY.alt(3));
  await pty.until('[3 test-runner]');
  await ui.press(KEY.leader, '0');
  await pty.until('[0 main]');
  assert.ok(!pty.alternate, 'the main conversation is inline');
  await ui.say('/agent test-runner');
  await pty.until('[3 test-runner]');

  await ui.press(KEY.leader, 'k');
  await pty.until('Kill test-runner?');
  await ui.press('n');
  await pty.until(
    () => !pty.screen().some((line) => line.includes('Kill test-runner?')),
    'the question is gone',
  );
  await ui.press(KEY.leader, 'k');
  await pty.until('Kill test-runner?');
  await ui.press('y');
  // Killing the agent in view moves the view to its parent, whose fan-in thereby ends.
  await pty.until('[0 main]');
  await pty.until('All in: file-reader=received code-analyzer=idle test-runner=dead');
  await ui.press(KEY.alt(3));
  await pty.until('[3 test-runner');
  await pty.until('kill event');
  await ui.press('x', 'y', 'z');
  assert.ok(
    !pty.screen().some((line) => line.includes('xyz')),
    `a dead agent takes no input:\n${pty.screen().join('\n')}`,
  );
  await ui.press(KEY.alt(0));
  await pty.until('[0 main]');
  await ui.say('/reap');
  await pty.until('removed 1 dead');
  await ui.press(KEY.leader, 'a');
  await pty.until('Agents 3');
  assert.ok(!pty.screen().some((line) => line.includes('test-runner')));
  assert.ok(!pty.written().includes('\x1b[3J'), 'the scrollback is never cleared');
});

it('captured text is kept and shown, is sent to no model, and becomes the task of the child', async (test) => {
  const ui = await openUi(test, RULES);
  const { pty } = ui;
  await ui.say('hello');
  await pty.until('You said: hello');
  await ui.say('/capture');
  await pty.until('not sent to main');
  await ui.say('Enumerate all the *.md files,');
  await ui.say('count their words.');
  await pty.until('CAPTURE · 2 lines');
  await ui.say('/fork');
  await pty.until('I enumerate as told.');
  await pty.until('[1 enumerate-all-the-md-fi');
  const [root, child] = await ui.ledger(async (store) => {
    const agents = (await store.agents({})).toReversed();
    return Promise.all(agents.map(async (agent) => ({ agent, history: await store.history(agent.id) })));
  });
  const captures = root?.history.filter((message) => message.kind === 'capture') ?? [];
  assert.deepEqual(
    captures.map((message) => (message.kind === 'capture' ? message.content.text : '')),
    ['', 'Enumerate all the *.md files,', 'count their words.', ''],
  );
  const asked = root?.history.filter(({ kind }) => kind === 'user');
  assert.doesNotMatch(JSON.stringify(asked), /count their words/, 'main was not asked to do it');
  const told = child?.history.findLast((message) => message.kind === 'user');
  assert.match(
    told?.kind === 'user' ? told.content.text : '',
    /Enumerate all the \*\.md files,\ncount their words\./,
  );

  await ui.press(KEY.alt(0));
  await pty.until('[0 main]');
  await ui.say('/capture');
  await ui.say('never mind');
  await ui.say('/cancel');
  await pty.until('capture ended');
  await ui.say('/fork');
  await pty.until('[2 child-');
  await ui.say('wake up');
  await pty.until('Awake now.');
});
