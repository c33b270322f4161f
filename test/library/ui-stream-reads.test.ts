// Proves that a UI message stream reads of a long conversation only its end, and the agents of a tree not again with each piece that its root says.
import assert from 'node:assert/strict';
import { it, mock } from 'node:test';
import { LiveAnswers } from '../../src/library/streams/live-answers.ts';
import { uiStreamOf } from '../../src/library/streams/ui-stream.ts';
import type { RuntimeEvent } from '../../src/runtime/runtime-event.ts';
import { agent } from '../tui/ui-fixture.ts';

const LAST = 2_000;

it('from the newest prompt on, and the tree once while nothing but words come', async () => {
  mock.timers.enable({ apis: ['Date'], now: 1_000_000 });
  const root = { ...agent('main', null), last_seq: LAST };
  const message = (seq: number) => ({
    ...{ agent_id: root.id, seq, at: 0, kind: 'user' },
    content: { origin: seq === LAST ? 'human' : 'system', text: 'hello' },
  });
  const reads: number[] = [];
  let trees = 0;
  const store = {
    agent: async () => root,
    agents: async () => {
      trees += 1;
      return [root];
    },
    history: async (_: string, after = 0, limit = LAST) => {
      reads.push(after);
      const seqs = Array.from({ length: Math.min(limit, LAST - after) }, (_, at) => after + at + 1);
      return seqs.map(message);
    },
    listen: async () => async () => {},
  };
  const live = new LiveAnswers();
  const listeners = new Set<(event: RuntimeEvent) => void>();
  const runtime = {
    subscribe(listener: (event: RuntimeEvent) => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    settled: () => new Promise(() => {}),
  };
  const say = (text: string) => {
    const event = { type: 'delta', agent_id: root.id, delta: { type: 'text', text } } as const;
    live.see(event);
    for (const listener of listeners) listener(event);
  };
  say('word 0 ');
  const reader = uiStreamOf({ store, runtime, live } as never, root.id).getReader();
  const said: string[] = [];
  for (let word = 1; word <= 8; ) {
    const { value } = await reader.read();
    if (value?.type !== 'text-delta') continue;
    said.push(value.delta);
    say(`word ${word++} `);
  }
  await reader.cancel();
  mock.timers.reset();
  assert.equal(said.length, 8);
  assert.equal(trees, 1);
  assert.deepEqual([...new Set(reads)], [LAST - 50, LAST - 1, LAST]);
});
