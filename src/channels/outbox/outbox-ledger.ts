import type { Store } from '../../store/store.ts';

/** What the outbox needs of the ledger. */
export type OutboxLedger = Pick<
  Store,
  'claimDeliveries' | 'noteDelivery' | 'endDelivery' | 'pendingChannels' | 'findRuns' | 'findAsks'
>;
