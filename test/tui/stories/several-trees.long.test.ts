/**
 * Proves that another conversation can be opened within the program: the previous one continues, is counted when the person leaves, and can be reopened
 * as it was.
 */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import type { ScriptedRules } from '../../../src/models/scripted/scripted-rules.ts';
import { until } from '../../until.ts';
import { KEY, openUi, type UiStage } from './ui-stage.ts';

const RULES: ScriptedRules = {
  rules: [
    {
      when: { root: true, user: '^clean up', step: 0 },
      say: 'I remove it.',
      calls: [{ name: 'bash', input: { command: 'touch removed' } }],
      delay_ms: 1_500,
    },
    { when: { root: true, user: '^clean up' }, say: 'It is clean.' },
    { when: { root: true, user: '^slow' }, say: 'Slowly.', delay_ms: 1_000 },
    { when: { root: true, user: '^endless' }, say: 'Never.', delay_ms: 600_000 },
    { when: { root: true }, say: 'Heard: {{user}}' },
  ],
};

async function rootOf(ui: UiStage, task: RegExp): Promise<string> {
  return ui.ledger(async (store) => {
    for (const { id } of await store.agents({ conversations: true })) {
      const [first] = await store.history(id, 0, 1);
      if (first?.kind === 'user' && task.test(first.content.text)) return id;
    }
    throw new Error(`no tree begins with ${task}`);
  });
}

it('/new begins another tree and /resume returns, with the scrollback of each', async (test) => {
  const ui = await openUi(test, RULES);
  const { pty } = ui;
  await ui.say('the first task');
  await pty.until('Heard: the first task');
  await ui.say('/new');
  await pty.until('a new conversation: your first message begins it. “the first task” is kept: /resume');
  await ui.gone('[0 main');
  await ui.say('the second task');
  await pty.until('Heard: the second task');
  await ui.say(`/resume ${(await rootOf(ui, /first/)).slice(0, 8)}`);
  await pty.until('conversation: the first task, in ');
  await pty.until(() => pty.history().filter((line) => line === 'Heard: the first task').length === 2);
  await ui.say('more of the first');
  await pty.until('Heard: more of the first');
  const second = await rootOf(ui, /second/);
  await ui.say('/resume nothing');
  await pty.until('no conversation has "nothing" in its title');
  await ui.say('/resume');
  await pty.until('Conversations in ');
  await pty.until(
    () =>
      pty
        .screen()
        .slice(4)
        .some((line) => line === 'Heard: the second task'),
    'its end',
  );
  assert.ok(pty.screen().slice(4).includes('done'), 'and how it stands');
  await ui.press('t', 'a', 's', 'k');
  await pty.until(() => pty.screen().some((line) => /▸ the second task .* ○ idle +1 agent/.test(line)));
  await ui.press(KEY.enter);
  await pty.until('conversation: the second task, in ');
  await until(async () => {
    const roots = await ui.ledger((store) => store.agents({ conversations: true }));
    assert.equal(roots.length, 2);
    return roots.every(({ id, worker }) => id === second || worker === null);
  }, 'a tree at rest is released');
  await ui.say('slow work');
  await pty.until('> slow work');
  await ui.say('/new');
  await pty.until('“the second task” goes on here');
  await until(async () => {
    const roots = await ui.ledger((store) => store.agents({ conversations: true }));
    return roots.every(({ worker, reply }) => worker === null && reply !== 'Heard: the second task');
  }, 'a tree that comes to rest out of view is released');
  await ui.say('/quit');
  assert.equal((await pty.ended).exitCode, 0, 'nothing is at work: no question');

  const other = join(ui.folder, 'other');
  mkdirSync(other);
  const back = await ui.again(['--resume', '--cwd', other]);
  await back.pty.until('Conversations 2');
  await back.press('a');
  await back.pty.until('none in this folder');
  await back.press('a');
  await back.pty.until('Conversations 2');
  await back.press('/', 'f', 'i', KEY.enter);
  await back.pty.until('conversation: the first task, in ');
});

it('what is typed right after /new is meant for the new conversation', async (test) => {
  const ui = await openUi(test, RULES);
  const { pty } = ui;
  await ui.say('the first task');
  await pty.until('Heard: the first task');
  pty.send('/new');
  await pty.until('> /new');
  pty.send('\rfor the new one');
  await pty.until('a new conversation: your first message begins it.');
  await pty.until('> for the new one');
  pty.send('\r');
  await pty.until('Heard: for the new one');
  await rootOf(ui, /^for the new one/);
  // Also if it is sent at once.
  pty.send('/new');
  await pty.until('> /new');
  pty.send('\ranother one\r');
  await pty.until('Heard: another one');
  await rootOf(ui, /^another one/);
});

it('a tree that is left goes on: it is counted, its questions are told of, and wait for the return', async (test) => {
  const ui = await openUi(test, RULES);
  const { pty } = ui;
  await ui.say('clean up');
  await pty.until('thinking');
  await ui.say('/new');
  await pty.until('“clean up” goes on here: /resume');
  await pty.until('main of “clean up” waits for your answer: /resume');
  await ui.say('the second task');
  await pty.until('Heard: the second task');
  await ui.say('/quit');
  await pty.until('quit? 1 agent running');
  await ui.press('n', KEY.enter);
  await ui.say(`/resume ${(await rootOf(ui, /clean/)).slice(0, 8)}`);
  await pty.until('main wants: bash');
  await ui.answer('y');
  await pty.until('It is clean.');
  await ui.say('/new');
  await pty.until('“clean up” is kept');
  await ui.say('/quit');
  assert.equal((await pty.ended).exitCode, 0);
});

it('[k]ill all on quitting kills what is at work out of view, and not an idle conversation in view', async (test) => {
  const ui = await openUi(test, RULES);
  const { pty } = ui;
  await ui.say('endless work');
  await pty.until('thinking');
  await ui.say('/new');
  await pty.until('“endless work” goes on here: /resume');
  await ui.say('the second task');
  await pty.until('Heard: the second task');
  const [busy, idle] = [await rootOf(ui, /endless/), await rootOf(ui, /second/)];
  await until(
    async () => (await ui.ledger((store) => store.agent(idle)))?.state.type === 'idle',
    'the tree in view is at rest',
  );
  await ui.say('/quit');
  await pty.until('quit? 1 agent running: [d]etach [k]ill all [n]o');
  await ui.press('k');
  assert.equal((await pty.ended).exitCode, 0);
  const states = await ui.ledger((store) => Promise.all([busy, idle].map((id) => store.agent(id))));
  assert.deepEqual(
    states.map((agent) => agent?.state.type),
    ['killed', 'idle'],
  );
});
