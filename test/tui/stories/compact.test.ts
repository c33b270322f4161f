/**
 * Proves that a person can have a conversation summarised for its model, sees where it was cut and still sees all of it, and is told if there is nothing
 * to cut.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openUi } from './ui-stage.ts';

it('/compact says when, shows the cut, and keeps what it is told to keep', async (test) => {
  const ui = await openUi(test, {
    rules: [
      { when: { user: 'wants this to be kept: the colour' }, say: 'The door is blue.' },
      { when: { user: 'replaced by your summary' }, say: 'Nobody told me what to keep.' },
      { say: 'I heard {{user}}.' },
    ],
  });
  const { pty } = ui;
  await ui.say('/compact');
  await pty.until('there is no conversation yet');
  for (const word of ['one', 'two', 'three']) {
    await ui.say(word);
    await pty.until(`I heard ${word}.`);
  }
  await ui.say('/compact the colour');
  await pty.until('· checkpoint 1: a summary takes the place of messages 1 to');
  const lines = pty.screen();
  assert.ok(lines.includes('the model will be asked to summarise the older part'), lines.join('\n'));
  for (const word of ['one', 'two', 'three'])
    assert.ok(lines.includes(`I heard ${word}.`), 'all is still to be seen');
  await ui.say('/compact');
  await pty.until('· there is nothing to summarise yet');
  await ui.say('four');
  await pty.until('I heard four.');
  const rows = await ui.ledger(async (store) => {
    const [root] = await store.agents({});
    return store.history(root?.id ?? '');
  });
  const cut = rows.find(({ kind, content }) => kind === 'event' && content.event === 'checkpoint');
  assert.ok(cut?.kind === 'event' && cut.content.data?.summary === 'The door is blue.');
});
