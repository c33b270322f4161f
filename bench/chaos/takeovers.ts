import { LEASE_MS } from '../../src/kernel/ledger/leases.ts';
import type { FiredFault } from './fault-log.ts';
import type { LoggedClaim, LoggedStep } from './step-log.ts';
import type { Untouched } from './worker-fleet.ts';

/** What a successor may take beyond the lease (docs/operations.md, What happens when). */
export const PROMISE_MS = LEASE_MS + 2_000;
/** So long before a first step, the loss of somebody else may be what it had to wait for. */
const NEAR_MS = 3_000;

export interface Takeover {
  readonly agent_id: string;
  readonly lost_by: 'kill -9' | 'stop';
  /** From the loss of the holder to the first step of the next. */
  readonly ms: number;
  /** What happened to the agent in between, each with the milliseconds since the loss. */
  readonly claims: readonly string[];
  /** Something else went wrong on the way: the database, the one who was about to take over, or nobody was there who could have. */
  readonly disturbed: boolean;
}

/**
 * Of every agent at work whose holder was killed or stopped: how long it took until somebody else made its next step. From the times of the
 * faults and from what the database wrote down of the steps.
 */
export function takeovers(
  steps: readonly LoggedStep[],
  claims: readonly LoggedClaim[],
  faults: readonly FiredFault[],
  untouched: readonly Untouched[],
): Takeover[] {
  const claimed = Map.groupBy(claims, (claim) => claim.agent_id);
  const taken = Map.groupBy(steps, (step) => step.agent_id);
  return faults.flatMap((fault) => {
    const { fault: lost_by, worker } = fault;
    if ((lost_by !== 'kill -9' && lost_by !== 'stop') || worker === null) return [];
    return [...taken].flatMap(([agent_id, own]) => {
      const next = own.findIndex((step, index) => {
        const before = own[index - 1];
        return before?.worker === worker && step.epoch > before.epoch && step.at > fault.at;
      });
      const before = own[next - 1];
      const after = own[next];
      // Its last step is what it was left with, if nobody but this worker could have gone on.
      if (before === undefined || after === undefined || !before.at_work) return [];
      if (lost_by === 'stop' && after.at > fault.until + PROMISE_MS) return [];
      const ms = after.at - fault.at;
      const seen = (claimed.get(agent_id) ?? []).filter(({ at }) => at >= before.at && at <= after.at);
      return [
        {
          agent_id,
          lost_by,
          ms,
          claims: [
            `${worker?.slice(0, 8)} made its last step at ${before.at - fault.at}`,
            ...seen.map((claim) => `${claim.worker?.slice(0, 8)} claimed it at ${claim.at - fault.at}`),
            `${after.worker?.slice(0, 8)} made its first step at ${ms}`,
          ],
          disturbed: isDisturbed(fault, after.at, faults) || !isAnyoneThere(fault.at, after.at, untouched),
        },
      ];
    });
  });
}

/** Somebody worked all the while to whom nothing was done. */
function isAnyoneThere(lost_at: number, first_at: number, untouched: readonly Untouched[]): boolean {
  return untouched.some(({ from, until }) => from <= lost_at && until >= first_at);
}

function isDisturbed(fault: FiredFault, first_at: number, faults: readonly FiredFault[]): boolean {
  return faults.some((other) => {
    if (other === fault || other.at > first_at || other.until < fault.at || other.fault === 'skew')
      return false;
    // The end of another worker, or of a connection, hinders only those who might have taken over just then.
    return !['kill -9', 'drain', 'backends'].includes(other.fault) || other.until > first_at - NEAR_MS;
  });
}
