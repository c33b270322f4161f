import type { ChannelLog } from '../../channels/channel.ts';
import { errorText } from './error-text.ts';

/** A tree could not be led; without one (`null`), no tree could be looked for, as while the ledger is away. */
export function tellTreeTrouble(log: ChannelLog, error: unknown, root_id: string | null): void {
  if (root_id === null) log('warn', `trees without a leader cannot be looked for: ${errorText(error)}`);
  else log('error', `a tree is in trouble: ${errorText(error)}`, { root_id });
}
