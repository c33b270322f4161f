import type { ModelDelta } from '../../models/model.ts';
import type { Held } from '../../records/agent/state.ts';
import { cutText } from '../../records/text/cut-text.ts';
import { storable } from '../../records/text/text.ts';
import type { Cell } from '../executor/cell.ts';
import type { Executor } from '../executor/executor.ts';
import type { RuntimeClock, Stop } from '../runtime-clock.ts';

/** Shorter waits are not written to the ledger. */
const HELD_MIN_MS = 1_000;
/** Maximum characters that are kept of the reason, which ends with what the server said. */
const TEXT_MAX = 300;

/** Records what keeps a request from being sent, so that other processes see it too; `asked_at`: as in `Held`. It must be called with null when the request has ended. */
export function heldRequest(
  cell: Cell,
  { executor, clock }: { readonly executor: Executor; readonly clock: RuntimeClock },
  asked_at?: number,
): (delta: ModelDelta | 'taken' | null) => void {
  const { request } = cell;
  let is_written = false;
  let stop: Stop = () => undefined;
  const write = (held: Held | null, taken = false): void => {
    if (cell.request !== request || (held === null && !is_written && !taken)) return;
    is_written = held !== null;
    executor.happened(cell, { type: 'held', at: clock.now(), held, ...(taken && { taken }) });
  };
  return (delta) => {
    const type = typeof delta === 'object' ? delta?.type : delta;
    if (delta !== null && type !== 'waiting' && type !== 'sent' && type !== 'taken') return;
    stop();
    if (typeof delta === 'string' || delta?.type !== 'waiting') return write(null, delta === 'taken');
    const { reason, delay_ms } = delta;
    const text = storable(cutText(reason, TEXT_MAX, '…'));
    if (delay_ms === null)
      stop = clock.after(HELD_MIN_MS, () =>
        write({ text, until: null, ...(asked_at !== undefined && { asked_at }) }),
      );
    else if (delay_ms >= HELD_MIN_MS) write({ text, until: clock.now() + delay_ms });
  };
}
