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
  const row = new Map(rows.map((one) => [one.action, one]));
  const leader = row.get('leader')?.keys[0] ?? '';
  const short = (action: Action): string | null => row.get(action)?.after_leader[0] ?? null;
  const whole = (action: Action): string | null =>
    short(action) === null ? (row.get(action)?.keys[0] ?? null) : `${leader} ${short(action)}`;
  return { leader, whole, short };
}

export const STANDARD_SHORTCUTS = shortcuts(describeBindings(keyBindings()));
