import { deepStrictEqual } from 'node:assert/strict';
import { types } from 'node:util';
import * as z from 'zod';
import { type Agent, descendantsOf } from '../../records/agent/agent.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { OUTCOMES, type OutcomeWord, outcomeOf } from '../../records/run/outcome.ts';
import { checkGiven } from '../../settings/check-settings.ts';
import type { CoppiceAgent } from '../coppice-agent.ts';
import type { RunningWorkflow } from '../workflows.ts';

/** What is expected of an agent and those below it; what is left out may be anything. A text may be a regular expression. */
export interface ExpectedAgent {
  readonly name?: string | RegExp;
  readonly outcome?: OutcomeWord;
  /** Its last reply, or the result that it submitted. */
  readonly reply?: string | RegExp;
  readonly model?: string;
  /** All children, in the order in which they were created. */
  readonly children?: readonly ExpectedAgent[];
}

/** A whole tree, or a workflow run with the agents of its script. */
type Expectable = Pick<CoppiceAgent, 'result'> | Pick<RunningWorkflow<unknown>, 'result' | 'outcome'>;

const text = z
  .custom((one) => typeof one === 'string' || types.isRegExp(one), 'must be a text or a regular expression')
  .optional();
const EXPECTED = z.strictObject({
  ...{ name: text, reply: text, model: z.string().optional(), outcome: z.enum(OUTCOMES).optional() },
  get children(): z.ZodOptional<z.ZodArray<z.ZodObject>> {
    return z.array(EXPECTED as z.ZodObject).optional();
  },
});

/** Waits until the agent and those below it rest, and compares them; rejects with an `AssertionError` that shows the difference. */
export async function expectTree(agent: Expectable, expected: ExpectedAgent): Promise<void> {
  if (typeof agent?.result !== 'function')
    throw new CoppiceError('E_INVALID_ARGUMENT', 'expectTree needs an agent, or the run of a workflow', {
      hint: 'Give what start(), fork(), spawn(), find() or workflow() resolves to: await it first',
    });
  checkGiven(EXPECTED, expected, 'expectTree');
  const { root, agents } = await ('outcome' in agent ? agent.outcome() : agent.result());
  deepStrictEqual(shownOf(root, expected, [root, ...descendantsOf(root.id, agents)]), expected);
}

/** The agent, with what is expected of it. */
function shownOf(agent: Agent, expected: ExpectedAgent, all: readonly Agent[]): object {
  const { name, config, state, reply } = agent;
  const children = all.filter(({ parent_id }) => parent_id === agent.id);
  const whole = {
    ...{ name, outcome: outcomeOf(agent).outcome, model: config.model },
    reply: state.type === 'completed' ? state.result : (reply ?? ''),
    children: children.map((child, at) => shownOf(child, expected.children?.[at] ?? { name: '' }, all)),
  };
  const fits = (key: keyof ExpectedAgent) => {
    const [is, wanted] = [whole[key], expected[key]];
    return wanted instanceof RegExp && typeof is === 'string' && wanted.test(is) ? wanted : is;
  };
  return Object.fromEntries(
    (Object.keys(expected) as (keyof ExpectedAgent)[]).map((key) => [key, fits(key)]),
  );
}
