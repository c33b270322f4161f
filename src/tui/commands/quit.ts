import { isWorking } from '../../records/agent/state.ts';
import type { AppContext } from '../app-context.ts';

/** Number of agents of the open tree that work and that leaving would stop: none if another process leads it. */
export function workingHere({ followed, state }: AppContext): number {
  return followed ? 0 : [...state.agents.values()].filter((agent) => isWorking(agent.state.type)).length;
}

/** `/quit`: leaves at once when no agent works; else asks whether to detach or kill. */
export function quit(app: AppContext): void {
  const working = () => workingHere(app) + app.working_elsewhere;
  if (working() === 0) return app.leave('quit');
  app.dispatch({ type: 'overlay', overlay: { type: 'quit', working } });
}

/** `/setup`: leaves to connect another model, unless agents are at work. */
export function leaveForSetup(app: AppContext): void {
  const working = [...app.state.agents.values()].some((agent) => isWorking(agent.state.type));
  if (working || app.working_elsewhere > 0)
    return app.say('agents are at work: quit first, then run coppice setup', 'bad');
  app.leave('setup');
}
