import { descendantsOf } from '../../../records/agent/agent.ts';
import { isTerminal } from '../../../records/agent/state.ts';
import type { AppContext } from '../../app-context.ts';
import { idleAgents } from '../../state/agents/family.ts';
import type { Overlay } from '../../state/ui-state.ts';
import { resolveAgents } from './find-agent.ts';

/** `/kill`: the named agents, or else the one in view; `idle`: all idle agents, unless one has this name. */
export function kill(app: AppContext, agents: readonly string[], view: string): void {
  const names = [...app.state.agents.values()].map(({ name }) => name);
  if (agents.join() === 'idle' && !names.includes('idle')) return askKillIdle(app);
  const ids = agents.length === 0 ? [view] : resolveAgents(app, agents);
  if (ids !== null) askKill(app, ids);
}

/** Asks for confirmation before agents are killed; those that have ended already are left out. `list`: the list in which it is asked, which comes back. */
export function askKill(app: AppContext, ids: readonly string[], list: Overlay | null = null): void {
  const { state } = app;
  const named = ids.flatMap((id) => state.agents.get(id) ?? []);
  const agent_ids = named.filter((agent) => !isTerminal(agent.state.type)).map(({ id }) => id);
  if (agent_ids.length === 0)
    return app.say(
      `${named.map(({ name }) => name).join(', ')} ${named.length === 1 ? 'has' : 'have'} ended already`,
      'bad',
    );
  const below = agent_ids.flatMap((id) => descendantsOf(id, state.agents.values()));
  const living = below.filter(({ id, state: { type } }) => !isTerminal(type) && !agent_ids.includes(id));
  const others = [...new Set(living.map(({ id }) => id))];
  app.dispatch({ type: 'overlay', overlay: { type: 'kill', agent_ids, descendants: others, list } });
}

/** Asks for confirmation before killing all idle agents in whose branches no agent works. */
export function askKillIdle(app: AppContext): void {
  const agent_ids = idleAgents(app.state).map(({ id }) => id);
  if (agent_ids.length === 0)
    return app.say(
      'no sub-agent is idle, except those with agents at work or an open capture in their branch',
    );
  app.dispatch({ type: 'overlay', overlay: { type: 'kill', agent_ids, descendants: [], only_idle: true } });
}
