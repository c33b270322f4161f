import { type AgentState, waitsOf } from '../../records/agent/state.ts';
import { isParked } from '../../records/conversation/parked.ts';
import type { AgentFacts } from './facts.ts';
import { isSettled } from './post-mail.ts';
import type { Row } from './tables.ts';
import type { UnitOfWork } from './unit-of-work.ts';
import { enterUnled, leaveUnled } from './unled.ts';

/** How long a lease lasts without a heartbeat. */
export const LEASE_MS = 10_000;
/** Maximum agents freed in one transaction. */
export const FREE_BATCH = 5_000;

/** Registers a worker or renews its lease. `known`: it has registered before. Returns false if the lease had expired: others may have taken its agents. */
export function renewLease(unit: UnitOfWork, worker: Row & { readonly id: string }, known: boolean): boolean {
  const { now } = unit.facts;
  const before = unit.facts.get('worker', worker.id);
  const expires_at = now + LEASE_MS;
  if (before === null)
    unit.rows.insert('workers', { ...worker, draining: false, started_at: now, expires_at });
  else unit.rows.update('workers', { id: worker.id, expires_at });
  // A known worker without a row was removed as dead.
  return before?.leased ?? !known;
}

/**
 * Whether the worker may lead agents. `gone`: workers of this host whose process no longer exists. The same rule in SQL: `isWorkerAlive`
 * (store/ledger/sql-conditions.ts).
 */
export function hasLiveLease(unit: UnitOfWork, worker_id: string, gone: ReadonlySet<string>): boolean {
  return unit.facts.get('worker', worker_id)?.leased === true && !gone.has(worker_id);
}

/**
 * Leases to `leader` every living agent of the tree that no living worker leads, and increments their epochs; none of a tree that is being removed. Returns
 * their ids. Idempotent by `token`: a retry after a lost acknowledgement gets the same agents.
 */
export function claim(
  unit: UnitOfWork,
  root_id: string,
  leader: string,
  gone: ReadonlySet<string>,
  token: string,
): readonly string[] {
  const tree = unit.tree(root_id);
  if (tree === null || tree.removal !== null) return [];
  const members = unit.facts.get('members', root_id);
  unit.prefetch({ agent: members });
  const agents = members.flatMap((id) => unit.agent(id) ?? []);
  unit.prefetch({ worker: agents.flatMap(({ worker }) => worker ?? []) });
  const isMine = ({ worker, last_write }: AgentFacts) => worker === leader && last_write === token;
  const free = agents.filter(
    (one) => one.worker === null || isMine(one) || !hasLiveLease(unit, one.worker, gone),
  );
  const orphans = free.filter((one) => one.worker !== null && !isMine(one));
  const died = diedRunningCall(unit, orphans);
  for (const agent of free) {
    const { id, epoch, deaths } = agent;
    const change = { worker: leader, epoch: epoch + 1, last_write: token };
    unit.setAgent(agent, died.has(id) ? { ...change, deaths: deaths + 1 } : change);
    leaveUnled(unit, agent);
  }
  return free.map(({ id }) => id);
}

/** Ids of the agents whose process died while it ran one of their calls. */
function diedRunningCall(unit: UnitOfWork, orphans: readonly AgentFacts[]): ReadonlySet<string> {
  const executing = orphans.filter(({ status }) => status === 'executing').map(({ id }) => id);
  unit.prefetch({ state: executing });
  return new Set(executing.filter((id) => runsCall(unit.facts.get('state', id))));
}

function runsCall(text: string | null): boolean {
  const state = JSON.parse(text ?? 'null') as AgentState | null;
  return state?.type === 'executing' && !state.running.every(isParked);
}

/**
 * Releases the worker's leases of one tree. `parked` as in `enterUnled`; it is ignored for agents for which the worker has unread signals, and for agents
 * with a wait that has ended unnoticed because all the agents that it names have settled.
 */
export function releaseTree(
  unit: UnitOfWork,
  root_id: string,
  worker_id: string,
  parked: ReadonlyMap<string, number>,
): void {
  const members = unit.facts.get('members', root_id);
  unit.prefetch({ agent: members });
  const held = members.flatMap((id) => unit.agent(id) ?? []).filter(({ worker }) => worker === worker_id);
  const told = new Set(unit.facts.get('told', worker_id));
  const silent = [...parked].filter(([id]) => !told.has(id));
  unit.prefetch({ state: silent.map(([id]) => id) });
  const waits = new Map(silent.map(([id]) => [id, awaited(unit.facts.get('state', id))]));
  const targets = [...waits.values()].flat(2);
  unit.prefetch({ agent: targets, pending: targets });
  const goes_on = silent.filter(
    ([id]) => !waits.get(id)?.some((from) => from.every((target) => isSettled(unit, target))),
  );
  enterUnled(
    unit,
    held.map((agent) => unit.setAgent(agent, { worker: null })),
    new Map(goes_on),
  );
}

/** For each wait of the agent, the agents that it names. */
function awaited(text: string | null): readonly (readonly string[])[] {
  const state = JSON.parse(text ?? 'null') as AgentState | null;
  return state === null ? [] : waitsOf(state).flatMap(({ from }) => (from === null ? [] : [from]));
}

/**
 * Frees at most `FREE_BATCH` agents of a worker, and removes the worker with the last of them; returns whether there are more. `gone` is not null for a
 * worker presumed dead: the epochs of its agents rise, which fences it out if it wakes up; a no-op if the worker is alive after all.
 */
export function removeWorker(unit: UnitOfWork, worker_id: string, gone: ReadonlySet<string> | null): boolean {
  if (gone !== null && hasLiveLease(unit, worker_id, gone)) return false;
  const ids = unit.facts.get('held', worker_id);
  unit.prefetch({ agent: ids });
  const held = ids.flatMap((id) => unit.agent(id) ?? []).filter(({ worker }) => worker === worker_id);
  const died = gone === null ? new Set() : diedRunningCall(unit, held);
  const freed = held.map((agent) =>
    unit.setAgent(agent, {
      worker: null,
      ...(gone === null ? {} : { epoch: agent.epoch + 1 }),
      ...(died.has(agent.id) ? { deaths: agent.deaths + 1 } : {}),
    }),
  );
  enterUnled(unit, freed, undefined, unit.facts.get('worker', worker_id)?.expires_at);
  if (ids.length === FREE_BATCH) return true;
  unit.rows.wipe('signals', 'worker', worker_id);
  unit.rows.wipe('channel_seats', 'worker', worker_id);
  unit.rows.wipe('workers', 'id', worker_id);
  return false;
}
