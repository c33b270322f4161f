import type { AgentState } from '../../records/agent/state.ts';
import { isParked } from '../../records/conversation/parked.ts';
import type { AgentFacts, WorkerFacts } from './facts.ts';
import { leaveUnled, seekLeader } from './leading.ts';
import { isSettled } from './mailbox.ts';
import type { Unit } from './unit.ts';

/** How long a lease lives without a heartbeat, milliseconds. */
export const LEASE_MS = 10_000;
/** So many agents change hands in one transaction. */
export const FREED_AT_ONCE = 5_000;

/** Enters a worker, or renews its lease. `known`: it had entered before. False: its lease had expired, and others may have taken its agents. */
export function beat(
  unit: Unit,
  worker: Omit<WorkerFacts, 'expires_at' | 'started_at' | 'draining'>,
  known: boolean,
): boolean {
  const { now } = unit.facts;
  const before = unit.facts.get('worker', worker.id);
  const expires_at = now + LEASE_MS;
  if (before === null)
    unit.rows.insert('workers', { ...worker, draining: false, started_at: now, expires_at });
  else unit.rows.update('workers', { id: worker.id, expires_at });
  // Gone from the table, it was taken for dead.
  return before === null ? !known : before.expires_at > now;
}

/** Its lease is alive, and its process as far as can be seen. `gone`: workers whose process is seen to be gone. */
export function isLeased(unit: Unit, worker_id: string, gone: ReadonlySet<string>): boolean {
  const worker = unit.facts.get('worker', worker_id);
  return worker !== null && worker.expires_at > unit.facts.now && !gone.has(worker_id);
}

/**
 * Leases to the worker every living agent of the tree that no living worker leads; epochs rise. Returns their ids. A tree that is being removed is led by
 * nobody. `token` marks this claim: what has it was given to this very claim before, and the answer was lost on its way back.
 */
export function claim(
  unit: Unit,
  root_id: string,
  leader: string,
  gone: ReadonlySet<string>,
  token: string,
): readonly string[] {
  const tree = unit.tree(root_id);
  if (tree === null || tree.removal !== null) return [];
  const members = unit.facts.get('members', root_id);
  unit.want({ agent: members });
  const agents = members.flatMap((id) => unit.agent(id) ?? []);
  unit.want({ worker: agents.flatMap(({ worker }) => worker ?? []) });
  const isMine = ({ worker, last_write }: AgentFacts) => worker === leader && last_write === token;
  const free = agents.filter(
    (one) => one.worker === null || isMine(one) || !isLeased(unit, one.worker, gone),
  );
  const orphans = free.filter((one) => one.worker !== null && !isMine(one));
  const died = diedAtWork(unit, orphans);
  for (const agent of free) {
    const { id, epoch, deaths } = agent;
    const change = { worker: leader, epoch: epoch + 1, last_write: token };
    unit.setAgent(agent, died.has(id) ? { ...change, deaths: deaths + 1 } : change);
    leaveUnled(unit, agent);
  }
  return free.map(({ id }) => id);
}

/** Those of them whose process died while a call of theirs ran in it, and was not parked. */
function diedAtWork(unit: Unit, orphans: readonly AgentFacts[]): ReadonlySet<string> {
  const executing = orphans.filter(({ status }) => status === 'executing').map(({ id }) => id);
  unit.want({ state: executing });
  return new Set(executing.filter((id) => runsCall(unit.facts.get('state', id))));
}

function runsCall(text: string | null): boolean {
  const state = JSON.parse(text ?? 'null') as AgentState | null;
  return state?.type === 'executing' && !state.running.every(isParked);
}

/**
 * Gives up the worker's leases of one tree; `parked` as in `seekLeader`, for those of whom the worker was told nothing that it did not hear, and whose wait is
 * not over: whoever it waits for may have come to rest while the worker looked elsewhere.
 */
export function releaseTree(
  unit: Unit,
  root_id: string,
  worker_id: string,
  parked: ReadonlyMap<string, number>,
): void {
  const members = unit.facts.get('members', root_id);
  unit.want({ agent: members });
  const held = members.flatMap((id) => unit.agent(id) ?? []).filter(({ worker }) => worker === worker_id);
  const told = new Set(unit.facts.get('told', worker_id));
  const silent = [...parked].filter(([id]) => !told.has(id));
  unit.want({ state: silent.map(([id]) => id) });
  const waits = new Map(silent.map(([id]) => [id, awaited(unit.facts.get('state', id))]));
  const targets = [...waits.values()].flat(2);
  unit.want({ agent: targets, pending: targets });
  const goes_on = silent.filter(
    ([id]) => !waits.get(id)?.some((from) => from.every((target) => isSettled(unit, target))),
  );
  seekLeader(
    unit,
    held.map((agent) => unit.setAgent(agent, { worker: null })),
    new Map(goes_on),
  );
}

/** Of each wait of an agent that names whom it waits for, these. */
function awaited(text: string | null): readonly (readonly string[])[] {
  const state = JSON.parse(text ?? 'null') as AgentState | null;
  const waits =
    state?.type === 'waiting'
      ? [state.wait]
      : state?.type === 'executing'
        ? state.running.flatMap(({ wait }) => wait ?? [])
        : [];
  return waits.flatMap(({ from }) => (from === null ? [] : [from]));
}

/**
 * Takes at most `FREED_AT_ONCE` agents from a worker, and with the last of them the worker itself. `gone` is given for one that is taken for dead: its agents
 * get a new epoch, so that it is fenced out should it wake up, and nothing happens if it lives after all. Returns whether there are more.
 */
export function dissolve(unit: Unit, worker_id: string, gone: ReadonlySet<string> | null): boolean {
  if (gone !== null && isLeased(unit, worker_id, gone)) return false;
  const ids = unit.facts.get('held', worker_id);
  unit.want({ agent: ids });
  const held = ids.flatMap((id) => unit.agent(id) ?? []).filter(({ worker }) => worker === worker_id);
  const died = gone === null ? new Set() : diedAtWork(unit, held);
  const freed = held.map((agent) =>
    unit.setAgent(agent, {
      worker: null,
      ...(gone === null ? {} : { epoch: agent.epoch + 1 }),
      ...(died.has(agent.id) ? { deaths: agent.deaths + 1 } : {}),
    }),
  );
  seekLeader(unit, freed);
  if (ids.length === FREED_AT_ONCE) return true;
  unit.rows.wipe('signals', 'worker', worker_id);
  unit.rows.wipe('channel_seats', 'worker', worker_id);
  unit.rows.wipe('workers', 'id', worker_id);
  return false;
}
