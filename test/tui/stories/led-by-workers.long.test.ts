/**
 * Proves that a window may start and open trees that workers lead: it follows them live, sends, answers approvals, can be closed without stopping
 * anything, and never takes the lead itself.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ScriptedRules } from '../../../src/models/scripted/scripted-rules.ts';
import type { Store } from '../../../src/store/store.ts';
import { until } from '../../until.ts';
import { KEY, openUi, type UiStage } from './ui-stage.ts';

const RULES: ScriptedRules = {
  rules: [
    {
      when: { root: true, user: 'split', step: 0 },
      say: 'One begins.',
      calls: [{ name: 'fork', input: { name: 'helper', prompt: 'help' } }],
    },
    { when: { root: true, user: 'split' }, say: 'Main rests.' },
    { when: { root: true, user: 'touch', tool: 'bash' }, say: 'It was allowed.' },
    {
      when: { root: true, user: 'touch' },
      say: 'It needs leave.',
      calls: [{ name: 'bash', input: { command: 'echo touched' } }],
    },
    { when: { root: true, user: 'slow' }, say: 'Slowly done.', delay_ms: 3_000 },
    { when: { root: true, user: 'A message arrived' }, say: 'Main knows.' },
    { when: { root: true }, say: 'Heard {{user}}.' },
    { say: '{{agent.name}} helped' },
  ],
};

function served(ui: UiStage): Promise<void> {
  const there = async (store: Store) => (await store.workers()).some(({ role }) => role === 'worker');
  return until(() => ui.ledger(there), 'a worker is there');
}

async function leaders(store: Store): Promise<string[]> {
  const workers = await store.workers();
  const agents = await store.agents({});
  return agents.map(({ worker }) => workers.find(({ id }) => id === worker)?.role ?? 'nobody');
}

it('a tree started with --detach is led by a worker; the UI shows it live, sends, approves and leaves', async (test) => {
  const ui = await openUi(test, RULES, { args: ['--detach'] });
  await ui.pty.until('no process leads it yet: start coppice');
  await ui.say('split');
  ui.beside('worker');
  await ui.pty.until('Main rests.');
  await ui.press(KEY.alt(1));
  await ui.inView('1 helper');
  await ui.pty.until('helper helped');
  await ui.press(KEY.alt(0));
  assert.deepEqual(new Set(await ui.ledger(leaders)), new Set(['worker']));
  await ui.say('good morning');
  await ui.pty.until('Heard good morning.');
  await ui.say('touch');
  await ui.pty.until('echo touched');
  await ui.answer('y');
  await ui.pty.until('It was allowed.');
  await ui.say('slow');
  await until(
    () =>
      ui.ledger(
        async (store) => (await store.agents({ conversations: true }))[0]?.state.type === 'requesting',
      ),
    'it asks its model',
  );
  await ui.press(KEY.ctrl_c, KEY.ctrl_c);
  assert.equal((await ui.pty.ended).exitCode, 0, 'it leaves without a question');
  await until(
    () =>
      ui.ledger(async (store) => (await store.agents({ conversations: true }))[0]?.reply === 'Slowly done.'),
    'the worker goes on',
  );
  const back = await ui.again();
  await back.pty.until('Slowly done.');
  assert.match(back.pty.history().join('\n'), /workers lead it/, 'above what was said, perhaps out of view');
  await back.say('again');
  await back.pty.until('Heard again.');
  assert.deepEqual(new Set(await ui.ledger(leaders)), new Set(['worker']), 'the window never led it');
});

it('a tree whose workers are gone is led by the UI that opens it', async (test) => {
  const ui = await openUi(test, RULES, { args: ['--detach'] });
  await ui.say('good morning');
  await ui.press(KEY.ctrl_c, KEY.ctrl_c);
  await ui.pty.ended;
  const back = await ui.again();
  await back.pty.until('Heard good morning.');
  assert.deepEqual(await ui.ledger(leaders), ['run']);
});

it('with a worker present from the start, the UI says who leads', async (test) => {
  const first = await openUi(test, RULES);
  first.beside('worker');
  await served(first);
  const ui = await first.again(['--detach']);
  await ui.pty.until('workers lead it');
  await ui.say('good morning');
  await ui.pty.until('Heard good morning.');
});

it('an open UI says when the last worker is gone, why nobody leads, and what to do', async (test) => {
  const ui = await openUi(test, RULES, { args: ['--detach', '--label', 'gpu'] });
  const worker = ui.beside('worker', '--labels', 'gpu');
  await served(ui);
  await ui.say('slow');
  await until(
    () =>
      ui.ledger(
        async (store) => (await store.agents({ conversations: true }))[0]?.state.type === 'requesting',
      ),
    'it asks its model',
  );
  worker.kill('SIGKILL');
  await ui.pty.until('no process leads it, because no worker with the label gpu is running: start coppice');
  ui.beside('worker', '--labels', 'gpu');
  await ui.pty.until('Slowly done.');
});
