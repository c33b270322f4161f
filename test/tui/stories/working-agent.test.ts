/** Proves what a person sees when typing to a working agent and when interrupting it: the words appear as queued; what the agent said stays. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { KEY, openUi } from './ui-stage.ts';

it('text typed to a working agent is shown at once as queued until its turn takes it, and can be taken back; an interrupted answer stays', async (test) => {
  const ui = await openUi(test, {
    rules: [
      {
        when: { user: '^go' },
        say: 'One word after another, for a very long time. '.repeat(40),
        chunk_ms: 50,
      },
      { say: 'I heard: {{user}}' },
    ],
  });
  const { pty } = ui;
  await ui.say('go');
  await pty.until('One word after');
  await ui.say('and be short');
  await pty.until('> and be short · queued, ↑ edits it');
  await ui.say('and delete it all');
  await pty.until('> and delete it all · queued');
  await ui.press(KEY.up);
  await pty.until(() => pty.screen().includes('> and delete it all'), 'it is the draft again');
  assert.ok(!ui.shows('delete it all · queued'));
  await ui.press(KEY.ctrl_c);
  await ui.press('n', 'e', 'x', 't');
  await pty.until('> next');
  await ui.press(KEY.escape);
  await pty.until('interrupted by you');
  await pty.until('I heard: and be short');
  await ui.gone('queued');
  const pending = await ui.ledger(async (store) => {
    const [main] = await store.agents({});
    return (await store.mail(main?.id ?? '', true))
      .filter(({ kind }) => kind === 'letter')
      .map(({ body, consumed_seq }) => [body, consumed_seq === 0]);
  });
  assert.deepEqual(pending, [
    ['and be short', false],
    ['and delete it all', true],
  ]);
  await pty.until(
    () => pty.history().some((line) => line.startsWith('One word after')),
    'what it said stays',
  );
  await pty.until('> next');
});
