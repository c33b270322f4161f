// Proves that what requests use counts until the ledger has it, once, and that nothing of a tree is remembered once it is forgotten.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { NOTHING } from '../../../src/records/agent/budget.ts';
import { RequestsInFlight } from '../../../src/runtime/executor/requests-in-flight.ts';

const charged = { tokens: 'budget', usd: 'root' } as never;
const used = { tokens: 5, usd: 0.25 } as never;

it('two requests at once count together, each until its own end, however often that is told', () => {
  const flights = new RequestsInFlight();
  const [one, two] = [flights.begin('root', charged), flights.begin('root', charged)];
  assert.deepEqual(flights.of('budget'), NOTHING, 'nothing is known of what a request uses');
  one.used(used);
  two.used(used);
  assert.equal(flights.of('budget').tokens, 10);
  one.end();
  one.end();
  assert.equal(flights.of('budget').tokens, 5);
  two.end();
  assert.deepEqual([flights.of('budget'), flights.of('root')], [NOTHING, NOTHING]);
});

it('a request is expected to use what the one before it in its tree used, until the tree is forgotten', () => {
  const flights = new RequestsInFlight();
  flights.begin('root', charged).used(used);
  assert.deepEqual([flights.usual('root'), flights.usual('other')], [used, NOTHING]);
  flights.forget('other');
  assert.deepEqual(flights.usual('root'), used);
  flights.forget('root');
  assert.deepEqual(flights.usual('root'), NOTHING);
});
