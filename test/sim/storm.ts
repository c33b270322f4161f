import { LEASE_MS } from '../../src/kernel/ledger/leases.ts';
import type { Faults } from './faults.ts';
import type { Random } from './random.ts';
import type { SimLedger } from './sim-ledger.ts';
import type { SimProcess } from './sim-process.ts';
import type { VirtualTime } from './virtual-time.ts';

export interface StormSurroundings {
  readonly time: VirtualTime;
  readonly faults: Faults;
  readonly random: Random;
  readonly ledger: SimLedger;
  readonly processes: readonly SimProcess[];
}

const MOST_SKEW_MS = 30_000;

/** Applies faults to the processes and to the ledger as a whole, for one moment. */
export function storm({ time, faults, random, ledger, processes }: StormSurroundings): void {
  for (const process of processes) {
    const { actor } = process;
    const { name } = actor;
    // Its next life has already begun, or begins once this one has closed.
    if (!actor.alive || process.runtime === null) continue;
    if (faults.strikes('crash', name)) {
      process.crash();
      process.open(random.between(0, 20_000));
    } else if (faults.strikes('orderly-stop', name)) {
      void process.close().then(() => process.open(random.between(0, 5_000)));
    } else if (faults.strikes('pause', name)) actor.paused_until = time.now + random.between(200, 8_000);
    else if (faults.strikes('pause-past-lease', name))
      actor.paused_until = time.now + LEASE_MS + random.between(1_000, 30_000);
    if (faults.strikes('clock-jump', name)) actor.skew_ms = random.between(-MOST_SKEW_MS, MOST_SKEW_MS);
  }
  if (faults.strikes('lease-lost', 'disk')) ledger.loseLeases();
  if (faults.strikes('store-unavailable', 'disk')) ledger.down_until = time.now + random.between(500, 25_000);
  if (faults.strikes('disk-full', 'disk')) ledger.full_until = time.now + random.between(500, 40_000);
}
