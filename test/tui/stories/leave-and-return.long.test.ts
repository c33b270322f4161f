/** Proves that a person who returns finds every agent, dead and reaped ones included, as it was left, and that nothing of the tree is lost. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import type { ScriptedRules } from '../../../src/models/scripted/scripted-rules.ts';
import { until } from '../../until.ts';
import { KEY, openUi } from './ui-stage.ts';

const RULES: ScriptedRules = {
  rules: [
    {
      when: { root: true, user: '^start', step: 0 },
      say: 'Three begin.',
      calls: ['quick', 'slow', 'doomed'].map((name) => ({
        name: 'fork',
        input: { name, prompt: `be ${name}` },
      })),
    },
    { when: { root: true, user: 'essages? arrived' }, say: 'Noted.' },
    { when: { root: true }, say: 'Main heard: {{user}}' },
    { when: { agent: 'slow', step: 0 }, say: 'slow is done', delay_ms: 3_000 },
    { when: { agent: 'quick', user: 'again' }, say: 'quick did it again' },
    { say: '{{agent.name}} is done' },
  ],
};

it('kill all ends every agent before the program exits; the next start begins anew, and knows what was typed', async (test) => {
  const ui = await openUi(test, RULES);
  await ui.say('start');
  await ui.pty.until('Main heard');
  await ui.say('/quit');
  await ui.pty.until('quit? 1 agent running: [d]etach [k]ill all [n]o');
  await ui.press('k');
  assert.equal((await ui.pty.ended).exitCode, 0);
  const agents = await ui.ledger((store) => store.agents({}));
  assert.deepEqual(new Set(agents.map((agent) => agent.state.type)), new Set(['killed']));
  await ui.pty.until('all its agents have ended; read it with: coppice --tree');
  const back = await ui.again();
  await back.pty.until('has ended');
  await back.press(KEY.up);
  await back.pty.until('> /quit');
  await back.press(KEY.ctrl_c, '\x12', 's', 't', 'a');
  await back.pty.until('search: sta');
  assert.ok(back.shows('> start'));
  await back.press(KEY.enter);
  await back.pty.until('Main heard');
  const roots = await back.ledger((store) => store.agents({ conversations: true }));
  assert.equal(roots.filter(({ parent_id }) => parent_id === null).length, 2);
});

it('what is detached goes on in the ledger of the window, whatever server is set, and the printed commands find it', async (test) => {
  const env = { COPPICE_SERVER: 'http://127.0.0.1:1', COPPICE_TOKEN: 'none' };
  const ui = await openUi(test, RULES, { env, columns: 300 });
  await ui.say('start');
  await ui.pty.until('Main heard');
  await ui.say('/quit');
  await ui.pty.until('quit? 1 agent running');
  await ui.press('d');
  assert.equal((await ui.pty.ended).exitCode, 0);
  const printed = /coppice tree (\S+) --database (\S+), come back with coppice --tree \1 --database \2$/m;
  assert.equal(printed.exec(ui.pty.history().join('\n'))?.[2], `sqlite:${join(ui.folder, 'ledger.db')}`);
  await until(async () => {
    const agents = await ui.ledger((store) => store.agents({}));
    return agents.some(({ name, reply }) => name === 'slow' && reply === 'slow is done');
  }, 'the slow agent is led to its end');
});

it('restores dead, reaped and idle agents, captures, scrollback and slots', async (test) => {
  const ui = await openUi(test, RULES);
  const { pty } = ui;
  await ui.say('start');
  await pty.until('Main heard');
  await ui.say('/kill doomed');
  await pty.until('Kill doomed?');
  await ui.press('y');
  await ui.gone('Kill doomed');
  await ui.say('/fork');
  await pty.until('child-');
  await ui.say('/kill');
  await pty.until('Kill child-');
  await ui.press('y');
  await ui.inView('0 main');
  await ui.say('/reap');
  await pty.until('removed 2 dead');
  await ui.say('/capture');
  await pty.until('not sent to main');
  await ui.say('a captured line');
  await pty.until('CAPTURE · 1 line');
  await ui.say('/cancel');
  await pty.until('capture ended');
  await ui.say('/kill quick');
  await pty.until('Kill quick?');
  await ui.press('y');
  await ui.gone('Kill quick');
  await ui.press(KEY.alt(2));
  await pty.until('slow is done');
  await ui.press(KEY.alt(0));
  await ui.inView('0 main');
  await ui.say('/quit');
  assert.equal((await pty.ended).exitCode, 0, 'nothing is at work: no question');
  assert.ok(pty.history().some((line) => line.startsWith('come back with: coppice --tree ')));

  const back = await ui.again();
  await back.pty.until('a captured line');
  const lines = back.pty.history().join('\n');
  assert.match(lines, /> start/);
  assert.match(lines, /a captured line/);
  await back.pty.until('context ', 'how full it is, before a request of this program');
  await back.press(KEY.leader, 'a');
  await back.pty.until('Agents 3');
  assert.ok(!back.shows('doomed') && !back.shows('child-'), 'what was reaped stays out of sight');
  assert.ok(back.pty.screen().some((line) => /quick .*killed by you/.test(line)));
  await back.press(KEY.escape);
  await back.gone('Agents 3');
  await back.press(KEY.alt(1));
  await back.inView('1 quick');
  await back.pty.until('kill event: by you, 0 descendants');
  await back.pty.until('ended: no input');
  await back.press(KEY.alt(2));
  await back.inView('2 slow');
  await back.pty.until('slow is done');
  await back.say('more');
  await back.pty.until('slow is done', 'the model answers again');
});

it('a terminal that disappears kills no agent: the tree continues when it is opened again', async (test) => {
  const ui = await openUi(test, RULES);
  await ui.say('start');
  await ui.pty.until('Main heard');
  ui.pty.hangUp();
  await until(async () => {
    try {
      process.kill(ui.pty.pid, 0);
      return false;
    } catch {
      return true;
    }
  }, 'the program ends');
  const agents = await ui.ledger((store) => store.agents({}));
  assert.ok(agents.every((agent) => agent.state.type !== 'killed'));
  const back = await ui.again();
  await back.pty.until('Main heard');
  await back.press(KEY.alt(2));
  await back.pty.until('slow is done');
});

it('Ctrl-Z returns the terminal to the shell, and fg redraws everything', async (test) => {
  const ui = await openUi(test, RULES, { shell: true });
  const { pty } = ui;
  await ui.say('start');
  await pty.until('Main heard');
  await ui.press('d', 'r', 'a', 'f', 't', KEY.alt(1));
  await ui.inView('1 quick');
  await ui.press(KEY.ctrl_z);
  await pty.until('Stopped');
  assert.ok(!pty.alternate && pty.modeOn(25), 'the shell has the terminal');
  pty.send('echo the-$((40+2))-shell\r');
  await pty.until('the-42-shell');
  pty.send('fg\r');
  await ui.inView('1 quick');
  assert.ok(pty.alternate);
  await pty.until('quick is done');
  await ui.press(KEY.leader, 'a');
  await pty.until('Enter open');
  const mark = pty.mark();
  await ui.press(KEY.ctrl_z);
  await pty.until(() => pty.written(mark).includes('Stopped'), 'a list is left, too');
  pty.send('fg\r');
  await pty.until(() => pty.alternate && ui.shows('Enter open'), 'the list');
  await ui.press(KEY.escape);
  await ui.gone('Enter open');
  await ui.press(KEY.alt(0));
  await pty.until('> draft');
  assert.equal(
    pty.history().filter((line) => line.startsWith('Main heard')).length,
    1,
    'nothing is printed twice',
  );
});

it('two UIs and commands of other processes see the same state live', async (test) => {
  const ui = await openUi(test, RULES);
  await ui.say('start');
  await ui.pty.until('Main heard');
  const second = await ui.again();
  await second.pty.until('Main heard');
  await second.press(KEY.alt(1));
  await second.pty.until('quick is done');
  await second.say('once again');
  await ui.press(KEY.alt(1));
  await ui.pty.until('quick did it again');
  await second.pty.until('quick did it again');
  ui.coppice('send', 'quick', 'again, please');
  await ui.pty.until(
    () => ui.pty.screen().filter((line) => line.includes('quick did it again')).length === 2,
  );
  await second.pty.until(
    () => second.pty.screen().filter((line) => line.includes('quick did it again')).length === 2,
  );
  ui.coppice('kill', 'quick', '--yes');
  for (const one of [ui, second]) {
    await one.pty.until(() => one.shows('kill event') || one.shows('[0 main'));
    await one.press(KEY.alt(1));
    await one.pty.until('kill event: by you');
  }
  await ui.press(KEY.leader, 'r');
  await ui.inView('0 main');
  await second.inView('0 main');
  // A child created in one window also appears in the other.
  await second.say('/fork');
  await second.pty.until('child-');
  await ui.press(KEY.leader, 'a');
  await ui.pty.until('child-');
});
