// Proves that what an agent's turn comes to is decided by a pure function: in simulated histories nothing that it is given can be written to,
// nothing that it returns is written to either, and every question asked twice has the same answer.
// Own process: it puts another file in the place of one of the sources.
import assert from 'node:assert/strict';
import { registerHooks } from 'node:module';
import { it } from 'node:test';
import { DEEP } from '../house/deep.ts';
import { seen } from './watched-advance.ts';

const SEEDS = DEEP ? 25 : 5;
/** Until then more are played where the histories lack something. */
const SEEDS_MAX = 40;
/** What the histories must hold, so that they prove something. */
const MET = [
  'state: idle',
  'state: requesting',
  'state: executing',
  'state: awaiting',
  'state: waiting',
  'state: errored',
  'response',
  'request-failed',
  'call-settled',
  'toolset-call',
  'resume',
  'mail: letter',
  'mail: outcome',
  'mail: control',
  'mail: task',
  'mail: announce',
  'result: step',
  'result: effects',
  'result: deferred',
  'result: consumed',
  'result: parked',
  'result: wait_cursors',
  'result: run',
];

registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    const is_caller = context.parentURL?.endsWith('/src/runtime/executor/group-commit.ts') === true;
    if (!is_caller || !found.url.endsWith('/src/kernel/turn/advance.ts')) return found;
    return { ...found, url: new URL('watched-advance.ts', import.meta.url).href };
  },
});
const { simulate } = await import('./simulate.ts');

it('nothing that a step is made of is changed, and the same agent, inputs and view bring the same step', async () => {
  const lacking = () => MET.filter((what) => (seen.get(what) ?? 0) === 0);
  for (let seed = 1; seed <= SEEDS || (lacking().length > 0 && seed <= SEEDS_MAX); seed += 1)
    assert.deepEqual((await simulate(seed)).failures, []);
  assert.deepEqual(lacking(), []);
});
