import type { Store } from '../../store/store.ts';
import { hostLabel } from '../worker/worker-labels.ts';

export interface PlacementOptions {
  readonly label: readonly string[];
  readonly anywhere?: boolean;
}

/** Where a tree may be led: its folder is on this machine, unless it is said to be everywhere. One file is on one machine anyway. */
export function placementOf(
  store: Store,
  { label, anywhere }: PlacementOptions,
  env: NodeJS.ProcessEnv,
): string[] {
  const bound = store.kind === 'postgres' && anywhere !== true;
  return [...(bound ? [hostLabel(env)] : []), ...label];
}
