import { modeOf } from '../../permissions/mode.ts';
import type { PermissionMode } from '../../records/agent/agent.ts';
import type { UiState } from './ui-state.ts';

/** The modes in words for people. */
export const MODE_WORDS: Readonly<Record<PermissionMode, string>> = {
  ask: 'asks',
  accept: 'accepts edits',
  plan: 'plans only',
};

/** The mode of the tree in view, which is kept with its root; without a tree, the mode of the next one. */
export function modeInView({ root_id, agents, next_mode }: UiState): PermissionMode {
  const root = root_id === null ? undefined : agents.get(root_id);
  return root === undefined ? next_mode : modeOf(root.config);
}
