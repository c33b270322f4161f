// Proves what of an answer under way can be shown: of two agents apart, nothing of a try that failed, each time, and nothing once it is in the ledger.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { LiveAnswers } from '../../src/library/streams/live-answers.ts';
import type { ModelDelta } from '../../src/models/model.ts';
import type { RuntimeEvent } from '../../src/runtime/runtime-event.ts';

function answering() {
  const live = new LiveAnswers();
  const see = (agent_id: string, delta: ModelDelta) => live.see({ type: 'delta', agent_id, delta });
  const shown = (id: string, seq = 0) => live.after(seq, id).map(({ type, text }) => `${type} ${text}`);
  return { live, see, shown };
}

it('a try that failed leaves nothing, whatever it had said, and the next one neither', () => {
  const { see, shown } = answering();
  for (const text of ['first', 'second']) {
    see('a', { type: 'reasoning', text: 'hm' });
    for (const part of [text, ' half']) see('a', { type: 'text', text: part });
    see('b', { type: 'text', text: '!' });
    assert.deepEqual(shown('a'), ['reasoning hm', `text ${text} half`]);
    see('a', { type: 'restart', reason: 'it broke' });
    assert.deepEqual(shown('a'), []);
  }
  assert.deepEqual(shown('b'), ['text !!']);
});

it('what is in the ledger is not under way, and what comes after it is', () => {
  const { live, see, shown } = answering();
  see('a', { type: 'text', text: 'one' });
  const content = { model: 'm', parts: [] };
  const message = { agent_id: 'a', seq: 2, at: 1, kind: 'assistant', content } as const;
  live.see({ type: 'message', agent_id: 'a', message } as RuntimeEvent);
  see('a', { type: 'text', text: 'two' });
  assert.deepEqual([shown('a', 1), shown('a', 2)], [[], ['text two']]);
});
