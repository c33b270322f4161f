import { descendantsOf } from '../../records/agent/agent.ts';
import { isTerminal } from '../../records/agent/state.ts';
import type { AppContext } from '../app-context.ts';
import { idleAgents } from '../state/agents/family.ts';

/** Asks for confirmation before agents are killed; those that have ended already are left out. */
export function askKill(app: AppContext, ids: readonly string[]): void {
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
  app.dispatch({ type: 'overlay', overlay: { type: 'kill', agent_ids, descendants: others } });
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
