// Proves what a new tree takes from its start options: only limits that are numbers, defaults for the others, and a prompt with its images.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { DEFAULT_LIMITS, DEFAULT_SPENDING_LIMITS, type Limits } from '../../../src/records/agent/limits.ts';
import { promptedRoot } from '../../../src/runtime/open-runtime.ts';
import { checkedLimits } from '../../../src/runtime/orders/checked-options.ts';
import { CONFIG } from '../../store/ledger-fixture.ts';

it('unspecified limits stay unchanged', () => {
  assert.deepEqual(checkedLimits(), { ...DEFAULT_LIMITS, ...DEFAULT_SPENDING_LIMITS });
  assert.deepEqual(checkedLimits({ tokens: null }), DEFAULT_LIMITS);
  const others = { ...DEFAULT_LIMITS, depth: 7, tokens: 5 };
  assert.deepEqual(checkedLimits({ tokens: null, turns: 0 }, others), { ...others, tokens: null, turns: 0 });
  const unsaid = { depth: undefined } as unknown as Partial<Limits>;
  assert.deepEqual(checkedLimits(unsaid, others), others);
});

it('refuses a limit that cannot be compared or would forbid the root itself, and says what is valid', () => {
  const wrong: readonly (readonly [keyof Limits, unknown])[] = [
    ['depth', -1],
    ['depth', 1.5],
    ['depth', null],
    ['live', 0],
    ['total', 0],
    ['tokens', Number.NaN],
    ['cost_usd', Number.POSITIVE_INFINITY],
  ];
  for (const [name, value] of wrong)
    assert.throws(() => checkedLimits({ [name]: value }), {
      code: 'E_INVALID_ARGUMENT',
      message: `${value} is not a valid value for the limit ${name}`,
      hint: /^Give a number of at least [01]$/,
    });
  assert.equal(checkedLimits({ cost_usd: 0.5 }).cost_usd, 0.5);
  const misspelt = { dept: 1 } as Partial<Limits>;
  assert.throws(() => checkedLimits(misspelt), { message: 'no limit called "dept"', hint: /depth/ });
});

it('a prompt has its images, or none', () => {
  const origin = { id: 'root', created_at: 1, worker: null };
  const content = (given: object) => {
    const [message] = promptedRoot({ prompt: 'look', config: CONFIG, ...given }, origin).messages;
    return message?.kind === 'user' ? message.content : null;
  };
  const images = [{ media_type: 'image/png', data: 'AAAA' }];
  assert.deepEqual(content({ images }), { origin: 'human', text: 'look', images });
  assert.deepEqual(content({}), { origin: 'human', text: 'look' });
});
