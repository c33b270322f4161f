// Proves that an agent ends with the signal of its program: one that was aborted before, too, and once; and that a signal is left alone afterwards.
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { it } from 'node:test';
import { killOn } from '../../src/library/coppice-agent.ts';
import type { RuntimeFace } from '../../src/runtime/runtime-face.ts';

function runtime() {
  const rests = Promise.withResolvers<unknown>();
  const killed: string[] = [];
  const face: Partial<Record<'kill' | 'settled', unknown>> = {
    kill: async (id: string, by: string) => void killed.push(`${id} by ${by}`),
    settled: () => rests.promise,
  };
  return { face: face as unknown as RuntimeFace, killed, rests };
}

it('kills at once where the signal is aborted already', () => {
  const { face, killed } = runtime();
  killOn(AbortSignal.abort(new Error('enough')), 'one', face);
  assert.equal(killed.length, 1);
  assert.match(killed[0] ?? '', /^one by .*enough/);
});

it('two agents of one signal both end, each once; one that rests is left alone, and so is the signal', async () => {
  const { face, killed } = runtime();
  const resting = runtime();
  const program = new AbortController();
  for (const id of ['one', 'two']) killOn(program.signal, id, face);
  killOn(program.signal, 'three', resting.face);
  resting.rests.resolve(null);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(getEventListeners(program.signal, 'abort').length, 2);
  program.abort();
  assert.deepEqual([killed.map((text) => text.split(' ')[0]), resting.killed], [['one', 'two'], []]);
});
