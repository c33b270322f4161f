/**
 * Proves that a kill includes descendants, works for several agents at once, asks with a count first, that dead agents stay visitable, and that /reap
 * shows a living one.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ScriptedRules } from '../../../src/models/scripted/scripted-rules.ts';
import { KEY, openUi } from './ui-stage.ts';

const forks = (...names: string[]) =>
  names.map((name) => ({ name: 'fork', input: { name, prompt: `be ${name}` } }));

const RULES: ScriptedRules = {
  rules: [
    { when: { root: true, user: 'split', step: 0 }, say: 'Split.', calls: forks('reader', 'tester') },
    { when: { root: true }, say: 'Main heard: {{user}}' },
    { when: { agent: 'reader', step: 0 }, say: 'I need two.', calls: forks('grep', 'count') },
    { when: { agent: 'reader' }, say: 'Reader rests.' },
    { when: { agent: 'grep', step: 0 }, say: 'grep works', delay_ms: 600_000 },
    { when: { agent: 'tester', user: 'kill' }, say: 'Never.', calls: [] },
    { say: '{{agent.name}} rests.' },
  ],
};

it('a kill is confirmed with the number of descendants: n keeps them, y kills them; reap goes to the first living agent', async (test) => {
  const ui = await openUi(test, RULES);
  const { pty } = ui;
  await ui.say('split');
  await pty.until('Main heard');
  // Slots are given in order of birth; names find the agents regardless of it.
  await ui.say('/agent count');
  await pty.until('count rests.');
  await ui.press(KEY.ctrl_up);
  await pty.until('Reader rests.');
  await ui.say('/kill');
  await pty.until('Kill reader and 2 descendants (grep, count)? All 3 stay visitable until /reap.');
  await ui.press(KEY.enter);
  assert.ok(ui.shows('Kill reader'), 'Enter alone answers nothing');
  await ui.press('n');
  await ui.gone('Kill reader');
  await ui.say('/kill grep');
  await pty.until('Kill grep? It stays visitable until /reap.');
  await ui.press(KEY.escape);
  await ui.gone('Kill grep');
  const alive = await ui.ledger((store) => store.agents({ living: true }));
  assert.equal(alive.length, 5, 'n and Esc keep them all');

  // Several at once: one unknown name means that no agent is killed; an agent below another named one counts once.
  await ui.say('/kill tester nobody');
  await pty.until('no agent "nobody"');
  assert.ok(!ui.shows('Kill tester'));
  await ui.say('/kill tester grep reader grep');
  await pty.until('Kill tester, grep, reader and 1 descendant (count)? All 4 stay visitable until /reap.');
  await ui.press('n');
  await ui.gone('Kill tester');

  // Killed by another process: the view does not change.
  await ui.press(KEY.alt(0));
  await ui.inView('0 main');
  await ui.say('/kill reader');
  await pty.until('Kill reader and 2 descendants');
  await ui.press('y');
  await ui.gone('Kill reader');
  await ui.press(KEY.leader, 'a');
  await pty.until(
    () => pty.screen().filter((line) => /(reader|grep|count) .*killed by you/.test(line)).length === 3,
  );
  assert.ok(!pty.screen().some((line) => /tester .*killed/.test(line)));
  await ui.press(KEY.escape);
  await ui.gone('Agents 5');

  // Dead agents can be visited by every route and accept no input.
  await ui.say('/agent reader');
  await pty.until('kill event: by you, 2 descendants');
  await pty.until('Reader rests.');
  await pty.until('ended: no input');
  assert.ok(!pty.screen().some((line) => line.startsWith('>') && line.trim() === '>'), 'no input line');
  await ui.press(KEY.ctrl_down);
  await pty.until('grep');
  await ui.press('a', 'b', 'c', KEY.enter);
  assert.ok(!ui.shows('abc'));
  await ui.press(KEY.ctrl_right);
  await pty.until('count rests.');
  await ui.press(KEY.leader, 'k');
  await pty.until('count has ended already');

  // Reaped while a dead agent is in view: the view moves to the first living agent, main.
  await ui.press(KEY.leader, 'r');
  await ui.inView('0 main');
  await pty.until('removed 3 dead');
  await ui.press(KEY.leader, 'r');
  await pty.until('there are no dead agents');
  await ui.press(KEY.leader, 'a');
  await pty.until('Agents 2');
  assert.ok(!ui.shows('reader') && ui.shows('tester'));
  // From the list, all idle agents are killed at once.
  await ui.press('i');
  await pty.until('Kill 1 idle agent (tester)? It stays visitable until /reap.');
  await ui.press('y');
  await pty.until('ended 1 idle; /reap removes them from the list');
  await ui.say('/kill idle');
  await pty.until('no sub-agent is idle');
  // Reaped agents are hidden, but still in the ledger.
  assert.equal((await ui.ledger((store) => store.agents({}))).length, 5);
});

it('killing a descendant or a sibling of the agent in view keeps the view; killing its parent switches to main', async (test) => {
  const ui = await openUi(test, RULES);
  const { pty } = ui;
  await ui.say('split');
  await pty.until('Main heard');
  await ui.say('/agent count');
  await pty.until('count rests.');
  await ui.say('/kill grep tester');
  await pty.until('Kill grep, tester? Both stay visitable until /reap.');
  await ui.press('y');
  await ui.gone('Kill grep');
  await pty.until(() => pty.screen().some((line) => line.includes('count]')));
  await ui.say('/kill grep tester');
  await pty.until('grep, tester have ended already');
  // Dead agents among those named are left out.
  await ui.say('/kill grep reader');
  await pty.until('Kill reader and 1 descendant (count)? Both stay visitable until /reap.');
  await ui.press('y');
  await ui.inView('0 main');
  assert.ok(!pty.alternate);
});

it('kills asked for in the list of agents go back to it, where the next one can be chosen', async (test) => {
  const ui = await openUi(test, RULES);
  const { pty } = ui;
  await ui.say('split');
  await pty.until('Main heard');
  await ui.press(KEY.leader, 'a');
  await pty.until('Agents 5');
  await ui.press(KEY.down, 'k');
  await pty.until('Kill reader and 2 descendants');
  await ui.press('n');
  await ui.gone('Kill reader');
  await pty.until('Agents 5');
  await ui.press('k');
  await pty.until('Kill reader and 2 descendants');
  await ui.press('y');
  await pty.until(() => pty.screen().filter((line) => /killed by you/.test(line)).length === 3);
  assert.ok(ui.shows('Agents 5'));
  await ui.press(KEY.down, KEY.down, KEY.down, 'k');
  await pty.until('Kill tester?');
  await ui.press('y');
  await pty.until(() => pty.screen().filter((line) => /killed by you/.test(line)).length === 4);
  await ui.press(KEY.escape);
  await ui.gone('Agents 5');
});

it('what reaped agents did still counts in /diff, /undo, /cost and the meters, also after coming back', async (test) => {
  const ui = await openUi(
    test,
    {
      rules: [
        { when: { root: true, user: '^split', step: 0 }, calls: forks('maker') },
        {
          when: { agent: 'maker', step: 0 },
          calls: [{ name: 'write', input: { path: 'made.txt', content: 'x' } }],
        },
        { when: { agent: 'maker' }, say: 'It is made.' },
        { say: 'Main is done.' },
      ],
    },
    { args: ['--allow', '*'], rows: 50 },
  );
  const { pty } = ui;
  await ui.say('split');
  await pty.until('Main is done.');
  await ui.press(KEY.alt(1));
  await pty.until('It is made.');
  await ui.press(KEY.alt(0));
  await ui.inView('0 main');
  await ui.say('/kill maker');
  await pty.until('Kill maker?');
  await ui.press('y');
  await ui.gone('Kill maker?');
  const total = async (one: typeof ui): Promise<string | undefined> => {
    let found: string | undefined;
    await one.pty.until(() => {
      found = one.pty
        .screen()
        .join('\n')
        .match(/ (\d+k?) ─+$/m)?.[1];
      return found !== undefined;
    });
    return found;
  };
  const before = await total(ui);
  await ui.say('/reap');
  await pty.until('removed 1 dead');
  assert.equal(await total(ui), before);
  await ui.say('/diff');
  await pty.until('made.txt  by maker');
  await ui.say('/cost');
  await pty.until(() => pty.screen().some((line) => / 2 requests +maker$/.test(line)));
  await ui.say('/undo');
  await pty.until('made.txt  would be removed');
  await ui.press('n');
  await ui.gone('Take back');
  await ui.say('/quit');
  assert.equal((await pty.ended).exitCode, 0);
  const back = await ui.again();
  assert.equal(await total(back), before);
});
