import { createInterface } from 'node:readline/promises';
import type { Agent } from '../../core/agent.ts';
import { CoppiceError } from '../../core/coppice-error.ts';
import { isTerminal } from '../../core/state.ts';
import { clean } from '../../render/clean.ts';
import type { Store } from '../../store/store.ts';
import { printJson } from '../agent-json.ts';
import { type Context, withStore } from '../context.ts';
import { findAgent } from '../find-agent.ts';

/** `coppice kill ID`: the agent and all its descendants, wherever they run. Asks on a terminal. */
export function kill(context: Context, text: string, options: { readonly yes?: boolean }): Promise<number> {
  return withStore(context, async (store) => {
    const agent = await findAgent(context, store, text, { living: true });
    if (isTerminal(agent.state.type))
      throw new CoppiceError('E_AGENT_DEAD', `${agent.name} has ended already`);
    if (options.yes !== true && !context.json && process.stdin.isTTY && !(await confirmed(store, agent)))
      return 1;
    const { ids } = await store.kill(agent.id, 'you', Date.now());
    if (context.json) printJson({ schema: 'coppice/kill/v1', killed: ids });
    else
      process.stdout.write(
        `killed ${clean(agent.name)}${ids.length > 1 ? ` and ${descendants(ids.length - 1)}` : ''}\n`,
      );
    return 0;
  });
}

async function confirmed(store: Store, agent: Agent): Promise<boolean> {
  const all = await store.agents({ root_id: agent.root_id, living: true });
  const below = new Set([agent.id]);
  // Parents are older than their children, so one pass over the births finds all.
  for (const one of all.toReversed())
    if (one.parent_id !== null && below.has(one.parent_id)) below.add(one.id);
  const more = below.size > 1 ? ` and ${descendants(below.size - 1)}` : '';
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await prompt.question(`Kill ${clean(agent.name)}${more}? [y] kill  [n] keep: `);
  prompt.close();
  return /^y(es)?$/i.test(answer.trim());
}

function descendants(count: number): string {
  return count === 1 ? '1 descendant' : `${count} descendants`;
}
