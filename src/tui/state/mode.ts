import { modeOf } from '../../permissions/mode.ts';
import type { PermissionMode } from '../../records/agent/agent.ts';
import type { UiState } from './ui-state.ts';

/** What people call it. */
export const MODE_WORDS: Readonly<Record<PermissionMode, string>> = {
  ask: 'asks',
  accept: 'accepts edits',
  plan: 'plans only',
};

/** The mode of the tree in view, which its root keeps; of the next one before it begins. */
export function modeInView({ root_id, agents, next_mode }: UiState): PermissionMode {
  const root = root_id === null ? undefined : agents.get(root_id);
  return root === undefined ? next_mode : modeOf(root.config);
}
