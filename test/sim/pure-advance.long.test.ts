// Proves that a pure function decides each step of an agent: in simulated histories neither its inputs nor its results can be modified,
// and every call made twice has the same result.
// Own process: it replaces one of the source files.
import assert from 'node:assert/strict';
import { registerHooks } from 'node:module';
import { it } from 'node:test';
import { DEEP } from '../house/deep.ts';
import { seen } from './watched-advance.ts';

const SEEDS = DEEP ? 25 : 5;
/** Further seeds are played up to this one while the histories lack something. */
const SEEDS_MAX = 40;
/** Cases that the histories must contain to prove anything. */
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
