/** Proves that an open capture, one per agent, survives the program, that none of it reaches a model, and that a captured line may begin with a slash. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Store } from '../../../src/store/store.ts';
import { until } from '../../until.ts';
import { KEY, openUi } from './ui-stage.ts';

async function sentToModels(store: Store): Promise<string[]> {
  const texts: string[] = [];
  for (const agent of await store.agents({}))
    for (const message of await store.history(agent.id))
      if (message.agent_id === agent.id && message.kind === 'user' && message.content.origin === 'human')
        texts.push(message.content.text);
  return texts;
}

it('a capture survives a kill of the program, in each agent, until it is handed over or discarded', async (test) => {
  const ui = await openUi(test, {
    rules: [
      {
        when: { root: true, user: '^hello', step: 0 },
        calls: [{ name: 'fork', input: { name: 'reader', prompt: 'be' } }],
      },
      { when: { user: 'count them' }, say: 'I count as told.' },
      { say: '{{agent.name}} rests.' },
    ],
  });
  await ui.say('hello');
  await ui.pty.until('main rests.');
  await ui.say('/capture');
  await ui.pty.until('CAPTURE · 0 lines');
  for (const line of [
    'first line',
    '//fork is a word here',
    '/etc/hosts is one',
    '/send it off, then count them',
  ])
    await ui.say(line);
  await ui.pty.until('CAPTURE · 4 lines');
  await ui.press(KEY.alt(1));
  await ui.inView('1 reader');
  await ui.say('/capture');
  await ui.say('for the reader');
  await ui.pty.until('CAPTURE · 1 line ');
  // The screen shows a line at once; it is committed to the ledger slightly later.
  await until(
    () =>
      ui.ledger(async (store) => {
        const reader = (await store.agents({})).find(({ name }) => name === 'reader');
        return JSON.stringify(await store.history(reader?.id ?? '')).includes('for the reader');
      }),
    'the line in the ledger',
  );
  ui.pty.kill('SIGKILL');
  await ui.pty.ended;

  const back = await ui.again();
  await back.pty.until('CAPTURE · 4 lines · not sent to main');
  await back.say('typed after it');
  await back.pty.until('CAPTURE · 5 lines');
  await back.press(KEY.alt(1));
  await back.pty.until('CAPTURE · 1 line · not sent to reader');
  await back.say('/cancel');
  await back.pty.until('capture ended');
  await back.press(KEY.alt(0));
  await back.say('/fork');
  await back.pty.until('I count as told.');
  await back.press(KEY.alt(0));
  await back.inView('0 main');
  await back.gone('CAPTURE');
  assert.deepEqual(await back.ledger(sentToModels), ['hello']);
  const told = await back.ledger(async (store) => {
    const child = (await store.agents({})).find(({ name }) => !['main', 'reader'].includes(name));
    return JSON.stringify(
      (await store.history(child?.id ?? '')).filter(({ kind }) => kind === 'user').at(-1),
    );
  });
  for (const line of [
    'first line',
    '/fork is a word here',
    '/etc/hosts is one',
    '/send it off, then count them',
    'typed after it',
  ])
    assert.ok(told.includes(`${line}`), told);
  assert.ok(!told.includes('//fork'));
  back.pty.kill('SIGKILL');
  await back.pty.ended;

  const third = await back.again();
  await third.inView('0 main');
  await third.pty.until('main rests.');
  assert.ok(!third.shows('CAPTURE'), 'it was handed over');
});

it('a capture or a fork may be the first thing that a person does, and no model hears of it', async (test) => {
  const ui = await openUi(test, { rules: [{ say: '{{agent.name}} heard it.' }] });
  await ui.say('/capture');
  await ui.pty.until('CAPTURE · 0 lines');
  await ui.say('count them');
  await ui.pty.until('CAPTURE · 1 line ');
  assert.deepEqual(await ui.ledger(sentToModels), []);
  await ui.say('/fork');
  await ui.pty.until('count-them heard it.');
  assert.ok(!ui.shows('main heard it.'));
  await ui.say('/new');
  await ui.pty.until('a new conversation');
  await ui.say('/fork');
  await ui.inView('1 child-1');
});
