import type { View } from '../../kernel/turn/view.ts';
import { policyOf } from '../../permissions/policy.ts';
import { creationRuling } from '../../permissions/refusal.ts';
import type { Agent } from '../../records/agent/agent.ts';
import { storable } from '../../records/text/text.ts';
import type { AgentIndex, WaiterIndex } from './agent-index.ts';
import type { Cell } from './cell.ts';
import type { ExecutorOptions } from './executor-options.ts';
import type { RemoteAgents } from './remote-agents.ts';
import type { RunQueue } from './run-queue.ts';

export interface StepViewContext extends Pick<ExecutorOptions, 'catalog' | 'clock' | 'newId'> {
  readonly worker_id: string;
  readonly agent_index: AgentIndex;
  readonly waiters: WaiterIndex;
  readonly cells: ReadonlyMap<string, Cell>;
  readonly remote_agents: RemoteAgents;
  readonly runs: RunQueue;
}

/** Data that the agent's next step may read in addition to its own state. */
export function stepView(agent: Agent, context: StepViewContext): View {
  const { catalog, clock, newId, agent_index, remote_agents, runs } = context;
  const { toolset_tools, notices } = catalog.setupFor(agent.config);
  const ids: string[] = [];
  return {
    now: clock.now(),
    id(number, of) {
      ids[number] ??= newId(of);
      return ids[number];
    },
    worker: context.worker_id,
    relatives: agent_index,
    context: {
      ...catalog.contextOf(agent, agent_index.tree(agent.root_id)),
      printed: (id) => storable(context.cells.get(agent.id)?.calls.get(id)?.printed() ?? ''),
    },
    tools: toolset_tools,
    terms: catalog.terms,
    sent: (spec) => catalog.sentSpec(agent, agent_index.tree(agent.root_id), spec),
    notices,
    shared: remote_agents.isShared(agent.root_id),
    hasMail: (other, from_id) => hasMail(other, context, from_id),
    waitersOf: (id) => context.waiters.of(id),
    mayBegin: () => runs.mayBegin(agent),
    rulingOn: (tool) => creationRuling(policyOf(agent.config), tool),
    argumentsOf: catalog.argumentsOf,
  };
}

function hasMail(agent: Agent, { cells, remote_agents }: StepViewContext, from_id?: string): boolean {
  const cell = cells.get(agent.id);
  if (from_id !== undefined && cell !== undefined) return cell.inbox.hasLetterFrom(from_id);
  return cell === undefined ? remote_agents.hasMail(agent, from_id) : cell.inbox.hasNews(cell.agent.noticed);
}
