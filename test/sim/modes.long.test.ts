// Proves of another seed what simulation.test.ts proves of its own, with task lists, people, pauses and workflows; and that a seed is the same run in every process.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { it } from 'node:test';
import { simulate } from './simulate.ts';

const SIM = join(import.meta.dirname, '../../scripts/sim.ts');
const SEED = 1;

for (const mode of ['tasks', 'asks', 'workflows', 'pauses'])
  it(`${mode}: every law is kept, and the same seed is the same run in another process`, async () => {
    const { failures, hash } = await simulate(SEED, { [mode]: true });
    assert.deepEqual(failures, [], `npm run sim -- --seed ${SEED} --${mode} --trace`);
    const told = execFileSync(process.execPath, [SIM, '--seed', String(SEED), `--${mode}`], {
      encoding: 'utf8',
    });
    assert.equal(/hash ([\da-f]{32})/.exec(told)?.[1], hash);
  });
