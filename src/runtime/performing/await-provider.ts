import type { Barred } from '../../models/model.ts';
import type { Agent } from '../../records/agent/agent.ts';
import type { Spent } from '../../records/agent/failure.ts';
import { restAfterSummary } from '../../records/agent/state.ts';
import { pauseOf } from '../../records/conversation/parked.ts';
import type { Cell } from '../executor/cell.ts';
import type { Executor } from '../executor/executor.ts';
import type { AgentTimers } from '../leading/agent-timers.ts';
import type { RuntimeClock } from '../runtime-clock.ts';
import type { ModelCache } from './model-cache.ts';
import { pausedByPerson, pausedHere } from './pause-of-person.ts';

interface Context {
  readonly executor: Executor;
  readonly clock: RuntimeClock;
}

/** Times that differ by less are the same: the ledger's clock and the door's are read one after the other. */
const TOLERANCE_MS = 1_000;
/** Interval at which a paused workflow run that another process leads is looked at. */
const LOOK_MS = 5_000;

/**
 * Whether the agent waits in the ledger for this reason instead of failing. A key or a model that has never worked is a mistake, of which a person hears at
 * once: so before the first answer of its tree.
 */
export function mayPark({ id, parent_id, config, state, usage }: Agent, { agent_index }: Executor) {
  return (spent: Spent, soon: boolean): boolean => {
    if (restAfterSummary(state) !== null) return false;
    if (spent === 'person' || soon) return true;
    if (spent === 'quota' || spent === 'credit' || usage.output > 0) return true;
    if (config.fallback !== undefined) return true;
    const parent = agent_index.agent(parent_id ?? id);
    // A script that created it has asked nobody.
    if (spent === 'service' && !parent?.usage.output) return false;
    return parent_id !== null && (spent === 'key' || parent?.config.model === config.model);
  };
}

/** Closes the doors that these agents wait for, before any of them asks its model: an agent of theirs that does not wait yet is not sent into them. */
export async function closeDoors(
  agents: readonly Agent[],
  { clock, models }: { readonly clock: RuntimeClock; readonly models: ModelCache },
): Promise<void> {
  for (const agent of agents) {
    const pause = pauseOf(agent.state);
    if (pause === null || pause.spent === 'person') continue;
    const { at, told_at = at, opens_at, ...terms } = pause;
    const model = await models.modelOf(agent).catch(() => null);
    const now = clock.now();
    const wait_ms = opens_at === null ? null : opens_at - now;
    model?.learnClosed?.({ ...terms, wait_ms, age_ms: now - told_at });
  }
}

/** Parks the request in the ledger; returns false if it is parked there and the time has not changed. */
export function park(cell: Cell, { wait_ms, ...terms }: Barred, { executor, clock }: Context): boolean {
  const before = pauseOf(cell.agent.state);
  const at = clock.now();
  // One whose time has come waits for the request that tries the provider.
  const opens_at = wait_ms === null ? null : at + Math.max(0, Math.ceil(wait_ms));
  const is_due = before !== null && wait_ms !== null && wait_ms <= 0;
  const same =
    before?.opens_at === opens_at || Math.abs((before?.opens_at ?? 0) - (opens_at ?? 0)) < TOLERANCE_MS;
  if (before?.door === terms.door && (is_due || same)) return false;
  executor.happened(cell, { type: 'paused', at, pause: { ...terms, opens_at, at } });
  return true;
}

/** A request has tried a provider: the others of this process follow, or wait for as long as it says now. */
export function followTry(doors: readonly string[], still: Barred | null, context: Context): void {
  for (const cell of context.executor.cells.values()) {
    const pause = pauseOf(cell.agent.state);
    if (pause === null || !doors.includes(pause.door) || cell.request !== null) continue;
    if (still !== null) park(cell, still, context);
    else reopen(cell, context, 'open');
  }
}

/** Tries the paused request: once, however many say so before it is sent. */
function reopen(cell: Cell, { executor, clock }: Context, as?: 'open'): void {
  const pause = pauseOf(cell.agent.state);
  if (pause === null || pause === cell.reopened || cell.request !== null) return;
  cell.reopened = pause;
  executor.happened(cell, { type: 'reopen', at: clock.now(), ...(as && { as }) });
}

/** Tries a paused request at its time, or at once if the provider is open: another request has opened it meanwhile, or this process has another key. */
export async function awaitProvider(
  cell: Cell,
  opens_at: number | null,
  context: Parameters<typeof pausedByPerson>[1] &
    Context & { readonly models: ModelCache; readonly timers: AgentTimers },
): Promise<void> {
  const { executor, clock, models, timers } = context;
  cell.reopened = null;
  const pause = pauseOf(cell.agent.state);
  if (pause?.spent === 'person') {
    // The run may have been let go on just before this was written.
    const still = await pausedByPerson(cell.agent, context, () => cell.gone);
    if (cell.gone) return;
    if (still === null) return reopen(cell, context);
    const again = () => void awaitProvider(cell, null, context);
    if (pausedHere(cell.agent, executor) === null)
      timers.callAt(cell, 'provider', clock.now() + LOOK_MS, again);
    return;
  }
  const model = await models.modelOf(cell.agent).catch(() => null);
  if (cell.gone || pauseOf(cell.agent.state) !== pause) return;
  if (model?.closed?.() === false) return reopen(cell, context, 'open');
  if (opens_at !== null) timers.callAt(cell, 'provider', opens_at, () => reopen(cell, context));
}
