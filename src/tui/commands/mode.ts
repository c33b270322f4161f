import type { PermissionMode } from '../../records/agent/agent.ts';
import type { AppContext } from '../app-context.ts';
import { modeInView } from '../state/ui-state.ts';

const NEXT: Readonly<Record<PermissionMode, PermissionMode>> = { ask: 'accept', accept: 'plan', plan: 'ask' };

/** `/mode`: sets the mode of the whole tree in view, or of the one that the next message begins. Null: the next mode in the cycle. */
export function switchMode(app: AppContext, named: PermissionMode | null): void {
  const { root_id } = app.state;
  const mode = named ?? NEXT[modeInView(app.state)];
  if (root_id === null) app.dispatch({ type: 'mode', mode });
  else app.enqueue(() => app.runtime.switchMode(root_id, mode));
}
