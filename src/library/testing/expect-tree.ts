import { deepStrictEqual } from 'node:assert/strict';
import { type Agent, descendantsOf } from '../../records/agent/agent.ts';
import { type OutcomeWord, outcomeOf } from '../../records/run/outcome.ts';
import type { CoppiceAgent } from '../coppice-agent.ts';

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

/** Waits until the agent and those below it rest, and compares them; rejects with an `AssertionError` that shows the difference. */
export async function expectTree(agent: CoppiceAgent, expected: ExpectedAgent): Promise<void> {
  const { root, agents } = await agent.result();
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
