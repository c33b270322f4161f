/**
 * Proves that people see in the terminal what a workflow would do before a model may start it, call saved workflows as commands, follow a run in one line and in a list
 * of its phases and agents, and that nothing starts in plan mode or untrusted.
 */
import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { ALONE_MS } from '../../../src/tui/state/question-in-view.ts';
import { KEY, openUi } from './ui-stage.ts';

const META = "export const meta = { name: 'NAME', description: 'Reads and checks' };";
const SCRIPT = `${META.replace('NAME', 'pages')}
log('two pages');
const read = await parallel(['a', 'b'].map((page) => () => agent('read ' + page, { label: 'page ' + page, phase: 'Read' })));
await agent('boom', { label: 'bad', phase: 'Check' });
const colour = await ask('Which colour?', { choices: ['deep red', 'blue'] });
return { read, colour, args };`;
const RULES = {
  rules: [
    { when: { tool: 'workflow' }, say: 'called: {{result}}' },
    {
      when: { user: '^Do this with a workflow: ' },
      calls: [{ name: 'workflow', input: { script: `${META.replace('NAME', 'own')}\nreturn 'x'` } }],
    },
    { when: { user: 'Subagent: ' }, say: 'heard the end' },
    { when: { user: '^read ' }, say: 'seen {{user}}' },
    { when: { root: true }, say: 'Main heard: {{user}}' },
  ],
};

it('a saved workflow is a command: trusted, shown, confirmed, followed, answered', async (test) => {
  const ui = await openUi(test, RULES);
  const folder = join(ui.folder, 'proj', '.coppice', 'workflows');
  mkdirSync(folder, { recursive: true });
  mkdirSync(join(ui.folder, 'proj', '.git'));
  writeFileSync(join(folder, 'pages.js'), SCRIPT);
  await ui.say('/quit');
  const again = await ui.again(['--cwd', join(ui.folder, 'proj')]);
  const screen = again.pty;
  await again.say('/pages [1, 2]');
  await screen.until('of this project is not trusted as it is now');
  again.coppice('trust', '--yes', join(ui.folder, 'proj'));
  await again.say('/mode plan');
  await again.say('/pages [1, 2]');
  await screen.until('was not started: you are planning');
  await again.say('/mode ask');
  await again.say('/pages [1, 2]');
  await screen.until('Start the workflow pages, as shown above?');
  const shown = screen.screen().join('\n');
  assert.match(
    shown,
    /Reads and checks\n[\s\S]*Read: 2\n +Check: 1\n +starts 3 agents; no history[\s\S]* budget, tree: \$5, 2,000,000 tokens\n/,
  );
  await again.press('n', KEY.enter);
  await again.gone('Start the workflow');
  assert.equal((await again.ledger((store) => store.agents({}))).length, 0, 'nothing was started');
  await again.say('/pages [1, 2]');
  await screen.until('Start the workflow pages');
  await again.press('y', KEY.enter);
  await screen.until('wf pages 3/4 · 1 failed');
  await screen.until('Which colour?');
  await screen.until('1 deep red   2 blue');
  await again.press(KEY.leader, 'j');
  await screen.until('Enter open');
  assert.match(
    screen.screen().join('\n'),
    / pages 3\/4 · \d+s · 1 failed\n Read 2\/2 · \d+s\n.*page a +✓ done "seen read a".*\n.*page b .*\n Check 1\/1 · \d+s · 1 failed\n.*bad +✗ failed: /,
  );
  await again.press('p');
  await screen.until('paused');
  await again.press('p');
  await again.gone('paused');
  await again.press(KEY.up, KEY.up, KEY.up, KEY.enter);
  await again.inView('2 page a');
  await again.press(KEY.leader, '0');
  await screen.until('Which colour?');
  // A question that has just come up takes no answer, and a number within words is text.
  await new Promise((resolve) => setTimeout(resolve, ALONE_MS + 200));
  await again.press('2 is');
  await screen.until('> 2 is');
  await screen.until('numbers choose once the line is empty');
  await again.press(KEY.ctrl_c);
  await again.gone('> 2 is');
  await new Promise((resolve) => setTimeout(resolve, ALONE_MS + 200));
  await again.press('2');
  await screen.until('2 answers "blue" in a moment');
  await screen.until('heard the end');
  await again.press(KEY.leader, 'j');
  await screen.until('{"read":["seen read a","seen read b"],"colour":"blue","args":[1,2]}');
  rmSync(join(folder, 'pages.js'));
  await again.press('w');
  await again.press(KEY.escape);
  await screen.until('runs it');
  await again.say('/pages');
  await screen.until('Start the workflow pages');
});

it('who writes "workflow" gets the tool; the call is shown with its script, and in plan mode nobody is asked', async (test) => {
  const ui = await openUi(test, RULES);
  const { pty } = ui;
  const tools = async () => (await ui.ledger((store) => store.agents({})))[0]?.config.toolsets;
  await ui.say('hello');
  await pty.until('Main heard: hello');
  assert.deepEqual(await tools(), ['process']);
  await ui.say('tell me of Workflows');
  await pty.until('has the tool workflow from now on');
  await pty.until('Main heard: tell me of Workflows');
  assert.deepEqual(await tools(), ['process', 'workflow']);
  await ui.say('/mode plan');
  await ui.say('/workflow read it');
  await pty.until('called: workflow was denied: the user has switched to planning');
  await ui.say('/mode ask');
  await ui.say('/workflow read it');
  await pty.until('main wants: workflow');
  const shown = pty.screen().join('\n');
  assert.match(shown, /own@[0-9a-f]{32}[\s\S]*Reads and checks[\s\S]*starts 0 agents[\s\S]*\+return 'x'/);
  await ui.answer('n');
  await pty.until('called: workflow was denied by');
  assert.equal((await ui.ledger((store) => store.agents({}))).length, 1);
});
