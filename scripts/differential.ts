import { parseArgs } from 'node:util';
import { compareLedgers } from '../test/store/two-ledgers.ts';

/** `npm run differential -- [--steps 100000] [--seed 1]`: runs the same random steps on SQLite and PostgreSQL; fails at the first difference. */
const { values } = parseArgs({
  options: { steps: { type: 'string', default: '100000' }, seed: { type: 'string', default: '1' } },
});
const began_at = performance.now();
const { steps, calls, looks, outcomes } = await compareLedgers(Number(values.seed), Number(values.steps));
const seconds = ((performance.now() - began_at) / 1_000).toFixed(0);
console.log(
  `${steps} steps in ${calls} calls, all rows compared ${looks} times, in ${seconds} s: no difference`,
);
for (const [outcome, times] of [...outcomes].sort()) console.log(`${String(times).padStart(8)}  ${outcome}`);
