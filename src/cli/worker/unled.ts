import type { Agent } from '../../records/agent/agent.ts';
import { isTerminal } from '../../records/agent/state.ts';
import { clean } from '../../render/clean.ts';
import type { KnownWorker, Store } from '../../store/store.ts';
import type { Context } from '../setup/context.ts';
import { mayLead, otherMachine } from './lead-here.ts';
import { livingWorkers } from './leaders.ts';
import { sameLedger } from './same-ledger.ts';
import { hasWork } from './unfinished.ts';

/** A tree with something to do that nobody leads, and that nobody will take over by itself. */
export interface Unled {
  readonly why: string;
  /** What a person would do about it. */
  readonly next: string;
}

/** Of the trees of these agents (all living ones of each that is asked about), those that stand still, by their roots. */
export async function unledTrees(
  context: Context,
  store: Store,
  agents: readonly Agent[],
): Promise<ReadonlyMap<string, Unled>> {
  const workers = await livingWorkers(store);
  const alive = new Set(workers.map(({ id }) => id));
  const decided = new Set(
    agents.filter(({ worker }) => worker !== null && alive.has(worker)).map(({ root_id }) => root_id),
  );
  const unled = new Map<string, Unled>();
  for (const agent of agents) {
    const { root_id } = agent;
    if (decided.has(root_id) || isTerminal(agent.state.type) || !(await hasWork(store, agent))) continue;
    decided.add(root_id);
    const found = await unledTree(context, store, root_id, workers);
    if (found !== null) unled.set(root_id, found);
  }
  return unled;
}

/** The same of one tree. */
export async function unledOf(context: Context, store: Store, root_id: string): Promise<Unled | null> {
  const living = await store.agents({ root_id, living: true });
  return (await unledTrees(context, store, living)).get(root_id) ?? null;
}

/** Says on stderr that the tree stands still, if it does. */
export async function tellUnled(context: Context, store: Store, root_id: string): Promise<void> {
  const unled = await unledOf(context, store, root_id);
  if (unled !== null) process.stderr.write(`${unledText(unled)}\n`);
}

/** For people, after the name of the tree. */
export function unledText({ why, next }: Unled): string {
  return `${why}: ${next}`;
}

async function unledTree(
  context: Context,
  store: Store,
  root_id: string,
  workers: readonly KnownWorker[],
): Promise<Unled | null> {
  const placement = await store.placement(root_id);
  // Who was asked before will be asked again.
  const asks = (await store.asks({ root_id })).length > 0;
  const resume = `coppice resume ${root_id.slice(0, 8)}${asks ? ' --ask' : ''}${sameLedger(context)}`;
  if (placement === null) return { why: 'nobody runs it now', next: `go on with ${resume}` };
  if (workers.some((worker) => mayLead(worker, placement))) return null;
  const host = otherMachine(placement, context.env);
  const labels = placement.filter((label) => !label.startsWith('host:')).map(clean);
  const where = host === undefined ? '' : ` on the machine ${clean(host.slice('host:'.length))}`;
  const whom =
    labels.length === 0
      ? 'no worker'
      : `no worker with the label${labels.length === 1 ? '' : 's'} ${labels.join(', ')}`;
  const worker =
    labels.length === 0 ? 'coppice serve or coppice worker' : `coppice worker --labels ${labels.join(',')}`;
  return {
    why: `nobody leads it, since ${whom} runs${where}`,
    next: `start ${worker}${sameLedger(context)}${where}${host === undefined ? `, or go on here with ${resume}` : ''}`,
  };
}
