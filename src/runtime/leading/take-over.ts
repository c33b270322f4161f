import { LEASE_MS } from '../../kernel/ledger/leases.ts';
import { triedForPerson } from '../../kernel/transition/pausing.ts';
import { retryEvent } from '../../kernel/turn/take-orders.ts';
import type { Agent } from '../../records/agent/agent.ts';
import { isAboutContent } from '../../records/agent/failure.ts';
import { type Limits, namedLimit } from '../../records/agent/limits.ts';
import { isTerminal } from '../../records/agent/state.ts';
import { cutShort } from '../../records/conversation/child-text.ts';
import { pauseOf } from '../../records/conversation/parked.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import type { Conversation } from '../../store/read-records.ts';
import type { Store } from '../../store/store.ts';
import type { Executor } from '../executor/executor.ts';
import { checkedLimits } from '../orders/checked-options.ts';
import { orderMail } from '../orders/ledger-orders.ts';
import type { ResumeOptions, ResumeReport } from '../runtime-face.ts';
import type { OpenOptions } from '../runtime-options.ts';
import type { AgentTimers } from './agent-timers.ts';
import type { UnattendedTrees } from './unattended-trees.ts';

export interface TakeOverOptions extends Pick<OpenOptions, 'store' | 'clock'> {
  readonly executor: Executor;
  readonly timers: AgentTimers;
  /** Rejects with a `CoppiceError`. */
  readonly openModel: (name: string, limits: Limits) => Promise<unknown>;
  /** Closes the providers that these agents wait for. */
  readonly closeDoors: (agents: readonly Agent[]) => Promise<void>;
  /** Throws when the runtime is closed. */
  readonly assertOpen: () => void;
}

/** Maximum messages of the conversations that are read at a time; one alone may have more. */
const MESSAGES_AT_ONCE = 5_000;

/** Takes over every agent of a tree that no process leads, from its state in the ledger. */
export async function takeOver(
  root_id: string,
  { retry = false, without_last: leaves_out = false, model, limits, unattended = false }: ResumeOptions,
  { store, executor, timers, clock, openModel, closeDoors, assertOpen }: TakeOverOptions,
): Promise<ResumeReport> {
  let tree = await store.tree(root_id);
  const root = await store.agent(root_id);
  if (tree === null || root === null)
    throw new CoppiceError('E_AGENT_NOT_FOUND', `no tree with the root ${root_id}`);
  const old_model = root.config.model;
  const wanted = checkedLimits(limits, tree.limits);
  if (model !== undefined || limits !== undefined) await openModel(model ?? old_model, wanted);
  if (limits !== undefined) tree = await store.setLimits(root_id, wanted);
  executor.agent_index.setTree(tree);
  const unled_for = await store.unledFor(root_id);
  await store.claim(root_id, executor.worker);
  const all = (await store.agents({ root_id })).toReversed();
  const living = all.filter((agent) => !isTerminal(agent.state.type));
  const mine = living.filter(({ worker }) => worker === executor.worker.id);
  // Includes agents claimed by an earlier call whose acknowledgement was lost.
  const claimed = mine.filter((agent) => !isLed(agent, executor));
  // All agents must be known before the first one continues: waits look at other agents.
  for (const agent of all) if (!executor.cells.has(agent.id)) executor.know(agent);
  await executor.sync.checkMissing(root_id, all);
  await closeDoors(living);
  const elsewhere = living.length - mine.length;
  const goesOn = (agent: Agent): boolean =>
    (retry && (agent.state.type === 'errored' || pauseOf(agent.state) !== null)) ||
    (limits !== undefined && agent.state.type === 'errored' && agent.state.failure.kind === 'limit') ||
    isFreed(agent, tree.limits, retry ? tree.limits : limits);
  const tried: Agent[] = [];
  // Those that are led already.
  for (const agent of living) {
    if (agent.worker === executor.worker.id && !isLed(agent, executor)) continue;
    const cell = executor.cells.get(agent.id);
    const is_paused = pauseOf(agent.state) !== null;
    if (is_paused && (model !== undefined || goesOn(agent))) tried.push(agent);
    if (model !== undefined && is_paused) await store.send(orderMail(agent, { type: 'model', model }));
    else if (goesOn(agent) && cell !== undefined)
      executor.happened(cell, retryEvent(clock.now(), cell, false));
    else if (goesOn(agent)) await store.send(orderMail(agent, { type: 'retry' }));
  }
  if (elsewhere > 0) executor.remote_agents.markShared(root_id);
  const without_last = new Set(leaves_out ? stuck(claimed).map(({ id }) => id) : []);
  const broken: { agent: Agent; reason: string }[] = [];
  let restarted = 0;
  // In order of creation, so that queued runs begin in that order.
  for await (const [agent, result] of conversationsOf(store, claimed)) {
    try {
      if (result.status === 'rejected') throw result.reason;
      const { messages, mail } = result.value;
      await executor.sync.readSpending(agent);
      assertOpen();
      // Meanwhile taken over by another call, or ended.
      if (isLed(agent, executor) || executor.agent_index.isOld(agent)) continue;
      // The time of a mere takeover counts, so that one that is repeated again and again does not stop the clock.
      const unled_ms = (unled_for.get(agent.id) ?? 0) - LEASE_MS;
      const by_ms = Math.max(0, unled_ms, clock.stoodStill?.(agent.updated_at) ?? 0);
      const cell = executor.adopt(agent, messages, mail, !unattended);
      const at = clock.now();
      if (by_ms > 0) cell.inputs.unshift({ type: 'event', event: { type: 'clock-moved', at, by_ms } });
      timers.watch(cell, by_ms);
      const switched =
        model !== undefined && model !== agent.config.model && agent.config.model === old_model;
      if (switched) executor.happened(cell, { type: 'model', at, model });
      const shortened = without_last.has(agent.id);
      if (goesOn(agent) || ((shortened || switched) && agent.state.type === 'errored')) {
        executor.happened(cell, retryEvent(at, cell, shortened));
        restarted += 1;
      }
      const pause = pauseOf(agent.state);
      if (pause !== null && (switched || goesOn(agent) || (!unattended && triedForPerson(pause))))
        tried.push(agent);
    } catch (error) {
      broken.push({ agent, reason: error instanceof Error ? error.message : String(error) });
    }
  }
  return { root, agents: claimed, elsewhere, broken, restarted, tried };
}

/** Whether a limit ended the agent's turn that has been raised since: one of `said`. The script of a workflow has heard of it, and ended. */
function isFreed({ state, config }: Agent, limits: Limits, said: Partial<Limits> | undefined): boolean {
  const why = state.type === 'errored' ? state.failure.error : state.type === 'idle' ? cutShort(state) : null;
  const named = why === null || config.workflow !== undefined ? null : namedLimit(why);
  if (named === null || said?.[named.limit] === undefined) return false;
  return (limits[named.limit] ?? Number.POSITIVE_INFINITY) > named.was;
}

/** Agents whose provider refused their conversation; without any, all agents whose turn failed. */
function stuck(agents: readonly Agent[]): Agent[] {
  const failed = agents.filter(({ state }) => state.type === 'errored');
  const refused = failed.filter(
    ({ state }) => state.type === 'errored' && isAboutContent(state.failure.kind),
  );
  return refused.length > 0 ? refused : failed;
}

/** Whether the agent is led here, in this epoch or a newer one. */
function isLed({ id, epoch }: Agent, { cells }: Executor): boolean {
  return (cells.get(id)?.agent.epoch ?? 0) >= epoch;
}

/** Releases a tree in which nothing is left to do here, or only parked work; false if there is more. */
export async function releaseTree(
  root_id: string,
  executor: Executor,
  store: Store,
  unattended: UnattendedTrees,
): Promise<boolean> {
  const parked = executor.forget(root_id);
  if (parked === null) return false;
  await store.releaseTree(root_id, executor.worker.id, parked);
  unattended.forget(root_id);
  return true;
}

/** Yields the conversation of each agent, in order, several read at a time. A failure is yielded with the agent whose conversation cannot be read. */
export async function* conversationsOf(
  store: Pick<Store, 'conversations'>,
  agents: readonly Agent[],
): AsyncGenerator<readonly [Agent, PromiseSettledResult<Conversation>]> {
  for (let first = 0, next = 0; first < agents.length; first = next) {
    for (
      let sum = 0;
      next === first || sum + (agents[next]?.last_seq ?? Infinity) <= MESSAGES_AT_ONCE;
      next += 1
    )
      sum += agents[next]?.last_seq ?? 0;
    const some = agents.slice(first, next);
    const together = await store.conversations(some.map(({ id }) => id)).catch(() => null);
    for (const agent of some) {
      const alone = async () =>
        (together ?? (await store.conversations([agent.id]))).get(agent.id) ?? NOTHING;
      for (const result of await Promise.allSettled([alone()])) yield [agent, result];
    }
  }
}

const NOTHING: Conversation = { messages: [], mail: [] };
