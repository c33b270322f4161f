import type { Agent } from '../../src/records/agent/agent.ts';
import type { EndedLedger } from '../judge/ended-ledger.ts';
import { COUNTING } from './counting-tools.ts';

/**
 * Describes how a tree ended, in words that are the same for every run of its kind: its agents, what each said last, which calls each made,
 * and which letters were sent from whom to whom. The order of the mail and the number of turns are left out.
 */
export function treeShape(root: Agent, ledger: EndedLedger): string[] {
  const members = [...ledger.agents.values()].filter(({ root_id }) => root_id === root.id);
  const nameOf = (id: string | null) => {
    if (id === null) return 'the person';
    return id === root.id ? kindOf(root) : (ledger.agents.get(id)?.name ?? 'nobody');
  };
  const lines = members.map((agent) => {
    const { state, reply, parent_id } = agent;
    const below = parent_id === null ? '' : ` below ${nameOf(parent_id)}`;
    const done = state.type === 'killed' ? '' : `, ${callsOf(agent, ledger).join(' ')}`;
    return `${nameOf(agent.id)}${below} is ${state.type}, said ${JSON.stringify(reply)}${done}`;
  });
  const letters = [...ledger.mail.values()]
    .filter(({ root_id }) => root_id === root.id)
    .map(({ kind, from_id, to_id }) => `${kind} from ${nameOf(from_id)} to ${nameOf(to_id)}`);
  return [...lines, ...letters].toSorted();
}

/** `process-3` → `process`. */
export function kindOf({ name }: Pick<Agent, 'name'>): string {
  return name.split('-')[0] ?? '';
}

/** Names of all calls of an agent with their status, which is left out for counting calls, because they may have been interrupted. */
function callsOf({ id }: Agent, { messages }: EndedLedger): string[] {
  return (
    (messages.get(id) ?? [])
      .flatMap((message) => (message.kind === 'result' ? [message.content] : []))
      // A script waits as often as results come by themselves.
      .filter(({ name }) => name !== 'next')
      .map(({ name, status }) => (COUNTING.has(name) ? name : `${name}:${status}`))
      .toSorted()
  );
}
