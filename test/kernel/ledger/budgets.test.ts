// Proves that what a budget reserves for agents below it is exactly their unspent rest, with several of them at once, and that a second end returns nothing more.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { admit } from '../../../src/kernel/ledger/admit.ts';
import { changeBudget, closeBudget } from '../../../src/kernel/ledger/budgets.ts';
import type { AgentFacts } from '../../../src/kernel/ledger/facts.ts';
import type { UnitOfWork } from '../../../src/kernel/ledger/unit-of-work.ts';
import type { AgentBudget } from '../../../src/records/agent/budget.ts';
import { agentOf, stepOf, treeOf, unitOf } from './ledger-stage.ts';

function budget(tokens: number | null, over: Partial<AgentBudget> = {}): string {
  const none = { tokens: 0, usd: 0 };
  return JSON.stringify({ limit: { tokens, usd: null }, spent: none, reserved: none, above: [], ...over });
}

/** A root with a budget of 1,000 tokens, of which two children have 100 and 300. */
function twoChildren(root_budget: string | null = budget(1_000, { reserved: { tokens: 400, usd: 0 } })) {
  const above = root_budget === null ? [] : ['root'];
  const reserved_tokens = root_budget === null ? 400 : 1_000;
  return unitOf({
    tree: { root: treeOf({ live: 3, total: 3, reserved_tokens }) },
    agent: {
      root: agentOf('root', { depth: 0, living_children: 2, budget: root_budget }),
      one: agentOf('one', { budget: budget(100, { above, spent: { tokens: 30, usd: 0 } }) }),
      two: agentOf('two', { budget: budget(300, { above }) }),
    },
  });
}

function reservedBy(unit: UnitOfWork): number | undefined {
  const text = unit.agent('root')?.budget;
  return text == null
    ? unit.tree('root')?.reserved_tokens
    : (JSON.parse(text) as AgentBudget).reserved.tokens;
}

const end = (unit: UnitOfWork, id: string) => closeBudget(unit, unit.agent(id) as AgentFacts);

for (const [where, root_budget] of [
  ['the budget above', undefined],
  ['the tree', null],
] as const)
  it(`an end returns the unspent rest to ${where} once, and nothing of what a sibling has`, () => {
    const unit = twoChildren(root_budget);
    end(unit, 'one');
    assert.equal(reservedBy(unit), 330);
    end(unit, 'one');
    assert.equal(reservedBy(unit), 330, 'a second end returns nothing');
    end(unit, 'two');
    assert.equal(reservedBy(unit), 30);
  });

it('spending of two children moves each amount from reserved to spent once, beyond a budget only the excess', () => {
  const unit = twoChildren();
  const spend = (id: string, tokens: number, base_seq: number) => {
    const usage = { input: tokens, output: 0, cached: 0, reasoning: 0, cost_usd: null };
    const requests = [{ model: 'm', started_at: 1, duration_ms: 1, usage }];
    const step = stepOf(id, { base_seq, requests, payers: [id, 'root'] });
    const verdict = admit(unit, { step, token: null });
    assert.ok(verdict.ok, JSON.stringify(verdict));
    const { spent, reserved } = JSON.parse(unit.agent('root')?.budget ?? '') as AgentBudget;
    return [spent.tokens, reserved.tokens];
  };
  assert.deepEqual(spend('two', 50, 3), [50, 350]);
  assert.deepEqual(spend('one', 20, 3), [70, 330]);
  assert.deepEqual(spend('one', 90, 3), [160, 280], 'only 50 were still reserved for it');
  assert.deepEqual(spend('one', 10, 3), [170, 280], 'and nothing is any more');
});

it('a budget that is changed twice reserves the difference each time, and takes nothing of a sibling', () => {
  const unit = twoChildren();
  const set = (id: string, tokens: number) => {
    const changed = changeBudget(unit, id, { tokens } as never);
    return [changed.ok, reservedBy(unit)];
  };
  assert.deepEqual(set('one', 200), [true, 500]);
  assert.deepEqual(set('one', 200), [true, 500], 'the same again');
  assert.deepEqual(set('one', 20), [true, 330], 'below what is spent, nothing stays reserved');
  assert.deepEqual(set('one', 60), [true, 360]);
  assert.deepEqual(set('two', 2_000), [false, 360], 'more than is left');
});
