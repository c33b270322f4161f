// Proves that many forks of one message share one row, printed once and only when all are answered, and that a few forks keep separate rows.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PlacedMessage } from '../../../src/records/conversation/message.ts';
import type { UiStyle } from '../../../src/render/style.ts';
import { EntryPrinter } from '../../../src/tui/printing/entry-printer.ts';
import type { Entry } from '../../../src/tui/state/entry.ts';
import { transcript, withMessage } from '../../../src/tui/state/transcript.ts';
import { agentNames } from '../../../src/tui/views/transcript/agent-names.ts';
import { entryView, finishedEntries } from '../../../src/tui/views/transcript/entry-view.ts';
import { spokenChanges } from '../../../src/tui/views/transcript/spoken-changes.ts';
import {
  after,
  agent,
  call,
  drawn,
  fits,
  HOSTILE,
  PLAIN,
  result,
  SPOKEN,
  says,
  seen,
  story,
} from '../ui-fixture.ts';

const names = agentNames(story());
const FULL = JSON.stringify({
  error: {
    code: 'LIMIT_REACHED',
    message: 'limit "children" reached: 16 of 16. Wait until children have ended.',
  },
});

function forking(count: number, tool = 'fork'): PlacedMessage {
  const calls = Array.from({ length: count }, (_, index) =>
    call(`c${index}`, tool, { name: `reader-${index}` }),
  );
  return says('main', 1, '', ...calls);
}

function created(index: number): PlacedMessage {
  return result('main', 2 + index, `c${index}`, 'fork', JSON.stringify({ agent_id: `id${index}` }));
}

function rows(entries: readonly Entry[], width = 120, style: UiStyle = PLAIN): string[] {
  return entries.flatMap((entry) => drawn(entryView(entry, width, style, names)));
}

describe('forks of one message', () => {
  it('are one row, which tells how many were refused and why', () => {
    const refused = [3, 4].map((index) => result('main', 9 + index, `c${index}`, 'fork', FULL, 'error'));
    const entries = transcript([forking(5), created(0), created(1), created(2), ...refused], 'main');
    assert.deepEqual(rows(entries), [
      '● fork 3 agents · 2 refused: limit "children" reached: 16 of 16 · reader-0, reader-1, reader-2',
    ]);
    assert.deepEqual(rows(entries, 120, SPOKEN), [
      'fork 3 agents - 2 refused: limit "children" reached: 16 of 16 - reader-0, reader-1, reader-2',
    ]);
    fits(rows(entries, 30), 30);
  });

  it('show each call when the row is opened', () => {
    const entries = transcript([forking(4), ...[0, 1, 2, 3].map(created)], 'main');
    const [entry] = entries as [Extract<Entry, { type: 'forks' }>];
    const opened = rows([{ ...entry, opened: true }]);
    assert.equal(opened[0], '● fork 4 agents · reader-0, reader-1, reader-2, reader-3');
    assert.equal(opened.filter((row) => /^● fork reader-\d/.test(row)).length, 4);
  });

  it('keep their own rows where they are few, of another tool, or of another message', () => {
    assert.equal(transcript([forking(3)], 'main').length, 3);
    assert.equal(transcript([forking(5, 'read')], 'main').length, 5);
    const two = transcript([forking(3), ...[0, 1, 2].map(created), { ...forking(3), seq: 9 }], 'main');
    assert.equal(two.length, 6);
  });

  it('are printed once, when the last of them is answered', () => {
    const printer = new EntryPrinter(0);
    const printed: string[] = [];
    let entries = transcript([forking(60)], 'main');
    for (let index = 0; index < 60; index += 1) {
      assert.equal(finishedEntries(entries), 0);
      entries = withMessage(entries, created(index), 'main');
      const options = { width: 70, style: PLAIN, names, spend: () => false };
      printed.push(...printer.lines(entries, finishedEntries(entries), options).lines);
    }
    assert.equal(printed.length, 1);
    assert.match(printed[0] ?? '', /^● fork 60 agents · reader-0, reader-1/);
  });

  it('survive names from anywhere', () => {
    const calls = Array.from({ length: 5 }, (_, index) => call(`c${index}`, 'fork', { name: HOSTILE }));
    fits(rows(transcript([says('main', 1, '', ...calls)], 'main'), 60), 60);
  });

  it('are one line for who listens, too', () => {
    const before = story();
    const children = [1, 2, 3, 4, 5].map((number) => seen(agent(`new-${number}`, 'file-reader'), true));
    assert.deepEqual(spokenChanges(before, after(before, ...children), 80, SPOKEN), [
      'file-reader: 5 new children',
    ]);
    assert.equal(spokenChanges(before, after(before, ...children.slice(2)), 80, SPOKEN).length, 3);
  });
});
