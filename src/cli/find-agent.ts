import type { Agent } from '../core/agent.ts';
import { CoppiceError } from '../core/coppice-error.ts';
import { isTerminal } from '../core/state.ts';
import { statusWord } from '../render/agent-status.ts';
import { nearestName } from '../render/nearest-name.ts';
import type { Store } from '../store/store.ts';

const CANDIDATES = 8;

/** The one agent that a uuid, a unique prefix, a name or a session key means. Rejects with what else it may have been. */
export async function findAgent(store: Store, text: string): Promise<Agent> {
  const found = await store.find(text);
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  if (found.length === 0) throw await notFound(store, text);
  const living = found.filter((agent) => !isTerminal(agent.state.type));
  const [alive] = living;
  if (alive !== undefined && living.length === 1) return alive;
  const list = found.slice(0, CANDIDATES).map(describe).join('\n');
  throw new CoppiceError('E_AGENT_AMBIGUOUS', `"${text}" matches ${found.length} agents`, {
    hint: `${list}\nUse a longer id.`,
  });
}

/** The root of the newest tree; `text` narrows to the tree of that agent. */
export async function findRoot(store: Store, text: string | undefined): Promise<Agent> {
  if (text !== undefined) {
    const agent = await findAgent(store, text);
    return (await store.agent(agent.root_id)) ?? agent;
  }
  const [newest] = await store.agents({ conversations: true, limit: 1 });
  if (newest === undefined)
    throw new CoppiceError('E_AGENT_NOT_FOUND', 'there is no agent yet', {
      hint: 'Start one: coppice run "…"',
    });
  return newest;
}

async function notFound(store: Store, text: string): Promise<CoppiceError> {
  const recent = await store.agents({ limit: 200 });
  const name = nearestName(
    text,
    recent.map((agent) => agent.name),
  );
  const nearest = recent.find((agent) => agent.name === name);
  const hint = `${nearest !== undefined ? `Did you mean ${describe(nearest)}?\n` : ''}See: coppice ps --all`;
  return new CoppiceError('E_AGENT_NOT_FOUND', `no agent called "${text}"`, { hint });
}

function describe(agent: Agent): string {
  return `${agent.name} (${agent.id.slice(0, 8)}, ${statusWord(agent)})`;
}
