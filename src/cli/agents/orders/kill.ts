import type { AgentDocument } from '../../../documents/shapes/agent-parts.ts';
import { CoppiceError } from '../../../records/coppice-error.ts';
import { counted } from '../../../records/text/text.ts';
import { clean } from '../../../render/clean.ts';
import type { Asked } from '../../../serve/client/ledger-client.ts';
import { ask } from '../../setup/ask-server.ts';
import type { Context } from '../../setup/context.ts';
import { printResult } from '../../setup/output.ts';
import { confirm } from '../../setup/standard-input.ts';
import { findAgent, hasEnded } from '../find-agent.ts';

/** `coppice kill ID…`: kills agents and all their descendants, whichever process leads them, but none if one cannot be found. Asks on a terminal. */
export function kill(
  context: Context,
  texts: readonly string[],
  options: { readonly yes?: boolean },
): Promise<number> {
  return ask(context, async (asked) => {
    const named = new Map<string, AgentDocument>();
    for (const text of texts) {
      const agent = await findAgent(context, asked, text);
      named.set(agent.id, agent);
    }
    const agents = [...named.values()].filter((agent) => !hasEnded(agent));
    if (agents.length === 0) {
      const names = [...named.values()].map(({ name }) => name).join(', ');
      throw new CoppiceError('E_AGENT_DEAD', `${names} ${named.size === 1 ? 'has' : 'have'} ended already`);
    }
    if (options.yes !== true && !context.json && process.stdin.isTTY) {
      const question = `Kill ${whom(agents, await withDescendants(asked, agents))}? [y] kill  [n] keep: `;
      if (!(await confirm(question))) return 1;
    }
    const killed: string[] = [];
    for (const { id } of agents) killed.push(...(await asked.kill(id)).killed);
    return printResult(context, { schema: 'coppice/kill/v1', killed }, () => [
      `killed ${whom(agents, new Set(killed))}`,
    ]);
  });
}

async function withDescendants(asked: Asked, agents: readonly AgentDocument[]): Promise<ReadonlySet<string>> {
  const ids = new Set(agents.map(({ id }) => id));
  // Parents are older than their children, so one pass finds all.
  for (const root_id of new Set(agents.map((agent) => agent.root_id)))
    for (const one of (await asked.tree(root_id)).agents)
      if (!hasEnded(one) && one.parent_id !== null && ids.has(one.parent_id)) ids.add(one.id);
  return ids;
}

/** The agents by name, and the number of their descendants in `all`. */
function whom(agents: readonly AgentDocument[], all: ReadonlySet<string>): string {
  const names = agents.map(({ name }) => clean(name)).join(', ');
  const below = all.size - agents.length;
  return below > 0 ? `${names} and ${counted(below, 'descendant')}` : names;
}
