import { CUT_RESTS } from '../../records/run/outcome.ts';
import { clean } from '../../render/clean.ts';
import { type LedgerContext, resumeCommand, sameLedgerFlags } from '../../settings/suggested-command.ts';
import { livingWorkers } from '../../store/process-gone.ts';
import type { KnownWorker, Store } from '../../store/store.ts';
import { mayLead } from './leaders.ts';
import { otherMachine, workerLabelsOf } from './placement.ts';

/** A tree with work left that no process leads, and that none will take over by itself. */
export interface Unled {
  readonly why: string;
  /** What a person can do about it. */
  readonly next: string;
}

/** Context for the wording of the advice: the flags of the command, and the environment that names this machine. */
export type UnledContext = LedgerContext & { readonly env: Readonly<Record<string, string | undefined>> };

/** The unled trees of these agents, by root. */
export async function unledTrees(
  context: UnledContext,
  store: Store,
  agents: readonly { readonly root_id: string }[],
): Promise<ReadonlyMap<string, Unled>> {
  const workers = await livingWorkers(store);
  const unled = new Map<string, Unled>();
  const root_ids = [...new Set(agents.map(({ root_id }) => root_id))];
  for (const root_id of await store.leftAlone(root_ids, workers)) {
    const found = await unledTree(context, store, root_id, workers);
    if (found !== null) unled.set(root_id, found);
  }
  return unled;
}

/** Like `unledTrees`, for one tree. */
export async function unledOf(context: UnledContext, store: Store, root_id: string): Promise<Unled | null> {
  return (await unledTrees(context, store, [{ root_id }])).get(root_id) ?? null;
}

/** Text for people, shown after the name of the tree. */
export function unledText({ why, next }: Unled): string {
  return `${why}: ${next}`;
}

async function unledTree(
  context: UnledContext,
  store: Store,
  root_id: string,
  workers: readonly KnownWorker[],
): Promise<Unled | null> {
  const placement = await store.placement(root_id);
  const asks = (await store.asks({ root_id, limit: 1 })).length > 0;
  const resume = resumeCommand(context, root_id, asks);
  const [tree, root] = [await store.tree(root_id), await store.agent(root_id)];
  const why = tree?.cut !== undefined && root?.epoch === 1 ? CUT_RESTS : 'no process leads it';
  if (placement === null) return { why, next: `resume it with ${resume}` };
  if (workers.some((worker) => mayLead(worker, placement))) return null;
  const host = otherMachine(placement, context.env);
  const labels = workerLabelsOf(placement).map(clean);
  const where = host === undefined ? '' : ` on the machine ${clean(host)}`;
  const whom =
    labels.length === 0
      ? 'no worker'
      : `no worker with the label${labels.length === 1 ? '' : 's'} ${labels.join(', ')}`;
  const worker =
    labels.length === 0 ? 'coppice serve or coppice worker' : `coppice worker --labels ${labels.join(',')}`;
  return {
    why: why === CUT_RESTS ? why : `${why}, because ${whom} is running${where}`,
    next: `start ${worker}${sameLedgerFlags(context)}${where}${host === undefined ? `, or go on here with ${resume}` : ''}`,
  };
}
