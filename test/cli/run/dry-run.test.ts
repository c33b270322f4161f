// Proves that `coppice run --dry-run` starts nothing, estimates the usage of agents of a profile and model, and says when it cannot.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { makeHome } from '../run-cli.ts';

const RULES = {
  rules: [
    {
      when: { agent: 'main', step: 0 },
      calls: [1, 2, 3].map((n) => ({
        name: 'fork',
        input: { name: `a${n}`, prompt: 'go', profile: 'small' },
      })),
    },
    { say: 'done' },
  ],
};

it('coppice run --dry-run tells what agents like these used, or that there is no history', async () => {
  const home = makeHome();
  const rules = join(home.folder, 'rules.json');
  writeFileSync(rules, JSON.stringify(RULES));
  const model = `scripted:${rules}`;
  home.configure({ model, agents: { small: { description: 'small things' } } });
  const dry = (...more: string[]) => home.run(['run', '--dry-run', ...more]);
  const before = await dry();
  assert.equal(before.code, 0, before.stderr);
  assert.match(before.stdout, /^Nothing was started\./);
  assert.ok(before.stdout.includes(`  no history for profile small with model ${model}\n`), before.stdout);
  assert.equal((await home.run(['run', 'go'])).code, 0);
  const after = await dry();
  assert.match(
    after.stdout,
    / {2}profile small with model scripted:\S+: about (\$0, )?\d+ tokens, \d s, nine of ten at most .* s \(3 agents\)\n/,
  );
  assert.match(after.stdout, / {2}no history for agents without a profile, with model/);
  const { estimates } = JSON.parse((await dry('--profile', 'small', '--json')).stdout);
  assert.deepEqual([estimates[0].profile, estimates[0].estimate.agents], ['small', 3]);
  assert.match((await dry('--profile', 'smal')).stderr, /smal/);
  assert.equal(JSON.parse((await home.run(['tree', '--json'])).stdout).agents.length, 4);
});
