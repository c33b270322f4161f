/** Proves that a workflow that was taken back goes on: with results on their way, with agents at work, and that it ends those that its script leaves at work. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openStore } from '../../../src/store/open-store.ts';
import { workflowHome } from '../../workflows/run-workflow.ts';

/** An agent that ends at once, and one that ends once the other's end is in the ledger. */
const RULES = [
  { when: { user: '^early' }, say: 'early' },
  { when: { user: '^late', step: 0 }, delay_ms: 1_000, calls: [{ name: 'think', input: { thought: 'so' } }] },
  { when: { user: '^late' }, say: 'late' },
];

it('goes on from every message, as it went', async () => {
  const home = workflowHome(RULES);
  for (const [body, wanted] of [
    ["return Promise.all([agent('early'), agent('late')])", '["early","late"]\n'],
    ["const late = agent('late'); return agent('early')", 'early\n'],
  ] as const) {
    const { id } = JSON.parse((await home.workflow(body, '--json')).stdout);
    const store = await openStore(home.database);
    const answers = (await store.history(id))
      .filter(({ kind }) => kind === 'assistant')
      .map(({ seq }) => seq);
    await store.close();
    assert.ok(answers.length >= 3, `${answers}`);
    for (const seq of answers.slice(1)) {
      const cut = JSON.parse((await home.run(['rewind', id, '--to', `before ${seq}`, '--json'])).stdout);
      const { stdout, stderr } = await home.run(['resume', cut.root_id, '--timeout', '20']);
      assert.equal(stdout, wanted, `before ${seq}: ${stderr}`);
    }
  }
});
