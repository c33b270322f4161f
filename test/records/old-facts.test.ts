// Proves that rows of versions which stored texts alone get the same facts as new ones: refused calls, and what checkpoints left out.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Checkpoint } from '../../src/records/conversation/checkpoint.ts';
import { checkpointText } from '../../src/records/conversation/checkpoint.ts';
import { withOldFacts, withStatedFacts } from '../../src/records/conversation/facts/old-facts.ts';
import type { Message } from '../../src/records/conversation/message.ts';

function result(name: string, output: string): Message {
  return { kind: 'result', content: { call_id: 'c', name, status: 'error', output } };
}

function factsOf(message: Message): unknown {
  return message.kind === 'result' ? message.content.facts : undefined;
}

it('a refused call says why, and only one that creates agents', () => {
  const output = JSON.stringify({ error: { code: 'LIMIT_REACHED', message: 'limit reached.' } });
  assert.deepEqual(factsOf(withOldFacts(result('fork', output))), { refused: 'limit reached.' });
  const forbidden = JSON.stringify({ status: 'forbidden', error: 'too deep' });
  assert.deepEqual(factsOf(withOldFacts(result('sessions_spawn', forbidden))), { refused: 'too deep' });
  assert.equal(factsOf(withOldFacts(result('bash', output))), undefined);
  assert.deepEqual(factsOf(withStatedFacts(result('fork', output))), {}, 'a new row is never read so');
});

it('a checkpoint counts on from what the one before left out, and is told to the model word for word as before', () => {
  const text = 'The head\n[… 900 characters left out to save room: recall {"seq": 2} gives all of it …]';
  const old: Checkpoint = {
    ...{ through: 3, number: 1, summary: 'So far.', facts: [] },
    spoken: [
      { seq: 1, origin: 'task', text: 'All of it.' },
      { seq: 2, origin: 'human', text },
    ],
  };
  const content = { event: 'checkpoint', text: '', data: { ...old } } as const;
  const read = withOldFacts({ kind: 'event', content });
  const { spoken } = (read.content as { data: unknown }).data as Checkpoint;
  assert.deepEqual(
    spoken.map((one) => [one.text, one.left_out]),
    [
      ['All of it.', 0],
      ['The head', 900],
    ],
  );
  assert.equal(checkpointText({ ...old, spoken }), checkpointText(old));
  const again = withOldFacts({ kind: 'event', content: { ...content, data: { ...old, spoken } } });
  assert.deepEqual(((again.content as { data: unknown }).data as Checkpoint).spoken, spoken);
});
