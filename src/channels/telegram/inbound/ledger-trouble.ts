import { CoppiceError } from '../../../records/coppice-error.ts';
import { StoreError } from '../../../store/store-error.ts';

/** Whether an error tells of the ledger and not of what was asked of it: the same may work later. */
export function isLedgerTrouble(error: unknown): boolean {
  if (error instanceof StoreError) return true;
  if (!(error instanceof CoppiceError)) return false;
  return error.retryable || error.code === 'E_DATABASE' || error.code === 'E_CLOSED';
}
