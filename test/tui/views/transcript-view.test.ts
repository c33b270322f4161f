// Proves that a scrollback of any length can be shown from any position, rendering only visible entries; and that each change is announced once to screen
// readers.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Entry } from '../../../src/tui/state/entry.ts';
import { agentNames } from '../../../src/tui/views/transcript/agent-names.ts';
import { spokenChanges } from '../../../src/tui/views/transcript/spoken-changes.ts';
import { EntryLines, transcriptView } from '../../../src/tui/views/transcript/transcript-view.ts';
import { after, agent, ask, PLAIN, SPOKEN, seen, story, THINKING } from '../ui-fixture.ts';

const names = agentNames(story());
const never = () => false;
const many: readonly Entry[] = Array.from({ length: 10_000 }, (_, index) => ({
  type: 'say',
  seq: index,
  text: `entry ${index}`,
  tone: 'plain',
}));

/** Counts reads of entries. */
function watched(entries: readonly Entry[]): {
  readonly entries: readonly Entry[];
  readonly looks: () => number;
} {
  let looks = 0;
  const proxy = new Proxy(entries, {
    get(target, key) {
      if (typeof key === 'string' && /^\d+$/.test(key)) looks += 1;
      return Reflect.get(target, key);
    },
  });
  return { entries: proxy, looks: () => looks };
}

describe('a scrollback on a full screen', () => {
  const show = (entries: readonly Entry[], scrolled: number, height = 5) =>
    transcriptView(entries, {
      width: 40,
      height,
      scrolled,
      style: PLAIN,
      names,
      kept: new EntryLines(),
      spend: never,
    });

  it('ends with the newest entry and scrolls back to the oldest', () => {
    assert.deepEqual(show(many, 0).lines, ['entry 9997', '', 'entry 9998', '', 'entry 9999']);
    assert.deepEqual(show(many, 2).lines, ['entry 9996', '', 'entry 9997', '', 'entry 9998']);
    const top = show(many.slice(0, 4), 99);
    assert.deepEqual(top.lines, ['entry 0', '', 'entry 1', '', 'entry 2']);
    assert.equal(top.scrolled, 2);
    assert.deepEqual(show(many.slice(0, 1), 3), { lines: ['entry 0'], scrolled: 0, whole: true });
    assert.deepEqual(show([], 0).lines, []);
  });

  it('reads only the visible ones of ten thousand entries', () => {
    const { entries, looks } = watched(many);
    show(entries, 0, 24);
    assert.ok(looks() < 60, `${looks()} looks`);
  });

  it('renders an entry again only when it or the width changes', () => {
    const kept = new EntryLines();
    const [one, two] = many as [Entry, Entry];
    const lines = kept.lines(two, one, { width: 40, style: PLAIN, names, spend: never });
    assert.equal(kept.lines(two, one, { width: 40, style: PLAIN, names, spend: never }), lines);
    assert.notEqual(kept.lines(two, null, { width: 40, style: PLAIN, names, spend: never }), lines);
    assert.notEqual(kept.lines({ ...two }, one, { width: 40, style: PLAIN, names, spend: never }), lines);
    assert.notEqual(kept.lines(two, null, { width: 41, style: PLAIN, names, spend: never }), lines);
  });
});

describe('what is said to people who listen', () => {
  const before = story();
  const say = (...events: Parameters<typeof after>[1][]): string[] =>
    spokenChanges(before, after(before, ...events), 80, SPOKEN);

  it('has one line per change', () => {
    assert.deepEqual(say(seen(agent('grep', 'file-reader', { state: THINKING }), true)), [
      'grep: running, child of file-reader',
    ]);
    assert.deepEqual(say(seen(agent('file-reader', 'main', { state: { type: 'killed', by: 'you' } }))), [
      'file-reader: dead, killed by you',
    ]);
    assert.deepEqual(say({ type: 'asks', asks: [ask('a', 'test-runner')] }), [
      'test-runner asks: bash rm -rf dist',
    ]);
    assert.deepEqual(say({ type: 'visit', agent_id: 'test-runner' }), ['in view: test-runner']);
    assert.deepEqual(say({ type: 'runtime', event: { type: 'ledger', reachable: false, text: 'gone' } }), [
      'ledger: gone',
    ]);
  });

  it('is empty when only times and counts change', () => {
    assert.deepEqual(say({ type: 'tick', now: before.now + 60_000 }), []);
    assert.deepEqual(
      say(seen(agent('file-reader', 'main', { state: THINKING, calls: 99, doing: 'bash' }))),
      [],
    );
  });
});
