// Proves what of a refused tool an agent program's answer explains: the newest refusal, once, and only if the program said nothing after it.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { AcpTurn } from '../../src/models/agent-programs/acp-turn.ts';

const text = (said: string) => ({ content: { type: 'text', text: said } });

function turnOf(...steps: readonly ((turn: AcpTurn) => void)[]): string {
  const turn = new AcpTurn(() => undefined);
  for (const step of steps) step(turn);
  turn.explain();
  return turn.text;
}

it('a program that stops in silence after two refusals explains the second', () => {
  const refused = turnOf(
    (turn) => turn.message(text('On it.')),
    (turn) => turn.refuse('one'),
    (turn) => turn.refuse('two'),
  );
  assert.equal(refused, 'On it.\n\n[not allowed: two]');
});

it('a program that goes on after a refusal explains nothing, until it is refused again', () => {
  const spoke = [(turn: AcpTurn) => turn.refuse('one'), (turn: AcpTurn) => turn.message(text('Then not.'))];
  assert.equal(turnOf(...spoke), 'Then not.');
  assert.equal(
    turnOf(...spoke, (turn) => turn.refuse('two')),
    'Then not.\n\n[not allowed: two]',
  );
});

it('a call that is told twice is shown once', () => {
  const shown: unknown[] = [];
  const turn = new AcpTurn((delta) => shown.push(delta));
  for (const title of ['Read a', 'Read a.ts']) turn.call('c1', title);
  turn.call('c2', 'Read a');
  assert.deepEqual(shown, [
    { type: 'call', id: 'c1', name: 'Read a' },
    { type: 'call', id: 'c2', name: 'Read a' },
  ]);
});

it('what is told after the end of a turn is neither shown nor kept', () => {
  const shown: unknown[] = [];
  const turn = new AcpTurn((delta) => shown.push(delta));
  turn.message(text('All.'));
  turn.close();
  turn.call('late', 'Read a');
  turn.message(text('More.'));
  turn.thought(text('Hm.'));
  turn.note('late');
  assert.deepEqual([turn.text, shown], ['All.', [{ type: 'text', text: 'All.' }]]);
});
