import { LEASE_MS } from '../../src/kernel/ledger/leases.ts';
import type { FiredFault } from './fault-log.ts';
import type { LoggedClaim, LoggedStep } from './step-log.ts';
import type { Untouched } from './worker-fleet.ts';

/** Time limit for a successor's first step (docs/operations.md, What happens when). */
export const PROMISE_MS = LEASE_MS + 2_000;
/** A fault that ended within this time before a first step may have delayed it. */
const NEAR_MS = 3_000;

export interface Takeover {
  readonly agent_id: string;
  readonly lost_by: 'kill -9' | 'stop';
  /** Milliseconds from the loss of the holder to the first step of the next. */
  readonly ms: number;
  /** Events of the agent in between, in words, each with the milliseconds since the loss. */
  readonly claims: readonly string[];
  /** Whether another fault interfered: of the database, of the prospective successor, or no worker was available. */
  readonly disturbed: boolean;
}

/**
 * Returns, for every agent at work whose lease holder was killed or stopped, the time until another worker made its next step, computed from
 * the times of the faults and the database's log of steps.
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
      // Only agents with work to do after their last step are taken over.
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

/** Whether one worker ran undisturbed during the whole period. */
function isAnyoneThere(lost_at: number, first_at: number, untouched: readonly Untouched[]): boolean {
  return untouched.some(({ from, until }) => from <= lost_at && until >= first_at);
}

function isDisturbed(fault: FiredFault, first_at: number, faults: readonly FiredFault[]): boolean {
  return faults.some((other) => {
    if (other === fault || other.at > first_at || other.until < fault.at || other.fault === 'skew')
      return false;
    // Losing another worker or a connection only delays a takeover in progress.
    return !['kill -9', 'drain', 'backends'].includes(other.fault) || other.until > first_at - NEAR_MS;
  });
}
