/** Proves what /rewind lists, and that Enter goes back to before a message of the person and Tab to when it was there, in a tree of its own. */
import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, it } from 'node:test';
import type { AppContext } from '../../../src/tui/app-context.ts';
import { askRewind } from '../../../src/tui/commands/rewind.ts';
import type { Picker } from '../../../src/tui/state/picker.ts';
import type { UiEvent } from '../../../src/tui/state/ui-event.ts';
import { pickerOverlay } from '../../../src/tui/views/lists/picker-overlay.ts';
import { closeOpened } from '../../close-opened.ts';
import { setStage } from '../../runtime/stage.ts';
import { PLAIN } from '../ui-fixture.ts';

afterEach(closeOpened);

it('goes back to a message, and leaves the tree as it is', async () => {
  const { store, runtime, perform } = await setStage(({ user }) => `heard ${user}`);
  const { root } = await perform('one');
  await runtime.send(root.id, 'two');
  await runtime.settled(root.id);
  const opened: string[] = [];
  const said: string[] = [];
  let [draft, list]: [string, Picker | null] = ['', null];
  const app = {
    store,
    options: { output_folder: join(tmpdir(), 'output') },
    dispatch: (event: UiEvent) => {
      if (event.type === 'overlay' && event.overlay?.type === 'picker') list = event.overlay;
    },
    openTree: async (id: string) => void opened.push(id),
    say: (text: string) => said.push(text),
    editor: {
      setText: (text: string) => {
        draft = text;
      },
    },
  } as unknown as AppContext;
  await askRewind(app, '', root.id);
  const picker = list as unknown as Picker;
  assert.deepEqual(
    picker.rows.map(({ text, figures }) => `${figures.at(-1)?.[1]}: ${text}`),
    ['answer: heard two', 'you: two', 'answer: heard one', 'you: one'],
  );
  // In a narrow window their age is left out before who spoke.
  const { lines } = pickerOverlay(picker, 34, 10, PLAIN, () => []);
  assert.deepEqual(
    lines.slice(1, 5).map((line) => line.replaceAll(/[^a-z]+/g, ' ').trim()),
    ['heard two answer', 'two you', 'heard one answer', 'one you'],
  );
  const [answer, two] = picker.rows;
  assert.ok(answer && two);
  assert.equal(picker.selected, two.id, 'what the person said last');
  const last = async () => (await store.agent(opened.at(-1) ?? ''))?.last_seq;
  await picker.choose(two, picker);
  assert.deepEqual([draft, await last()], ['two', 2]);
  assert.match(said.at(-1) ?? '', /^as it was before "two"; the other one stays/);
  draft = '';
  await picker.tab?.choose(two, picker);
  assert.deepEqual([draft, await last()], ['', 3]);
  await picker.choose(answer, picker);
  assert.deepEqual([draft, await last()], ['', 4]);
  await askRewind(app, '9', root.id);
  assert.equal(said.at(-1), 'no message 9');
  assert.equal((await store.agent(root.id))?.last_seq, 4);
});
