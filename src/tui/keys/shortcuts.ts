import type { Action } from '../commands/command-table.ts';
import { describeBindings, keyBindings } from './keys-config.ts';

/** The displayed keys of actions, for hints; a binding with the leader key comes first. */
export interface Shortcuts {
  readonly leader: string;
  /** `Ctrl-X a`; null: not bound. */
  whole(action: Action): string | null;
  /** `a`, where the leader key is understood; null: not bound after the leader key. */
  short(action: Action): string | null;
}

export function shortcuts(rows: ReturnType<typeof describeBindings>): Shortcuts {
  const keys = new Map(rows.map((row) => [row.action, row.keys]));
  const leader = keys.get('leader')?.[0] ?? '';
  const behind = (action: Action): string | undefined =>
    keys.get(action)?.find((key) => key.startsWith(`${leader} `));
  return {
    leader,
    whole: (action) => behind(action) ?? keys.get(action)?.[0] ?? null,
    short: (action) => behind(action)?.slice(leader.length + 1) ?? null,
  };
}

export const STANDARD_SHORTCUTS = shortcuts(describeBindings(keyBindings()));
