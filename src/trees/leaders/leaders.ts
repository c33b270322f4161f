import { runJson } from '../../documents/run-json.ts';
import type { RunDocument } from '../../documents/shapes/document-parts.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import type { Run } from '../../records/run/run.ts';
import { clean } from '../../render/clean.ts';
import { livingWorkers } from '../../store/process-gone.ts';
import type { KnownWorker, Store } from '../../store/store.ts';
import { otherMachine } from './placement.ts';

/** Contents of `coppice/subagent-runs/v1`; `unled`: runs that wait in the ledger, because no living process leads them. */
export async function runsDocument(
  store: Store,
  runs: readonly Run[],
): Promise<{ readonly runs: readonly RunDocument[]; readonly unled: readonly string[] }> {
  const active = runs.filter(({ finished_at }) => finished_at === null);
  const alive = new Set((await livingWorkers(store)).map((worker) => worker.id));
  const found = active.map(async (run) => [run, await store.agent(run.agent_id)] as const);
  const agents = new Map(await Promise.all(found));
  return {
    runs: runs.map((run) => runJson(run, agents.get(run) ?? null)),
    unled: active.filter((run) => !alive.has(agents.get(run)?.worker ?? '')).map(({ id }) => id),
  };
}

/** Leader of a tree that a person opens. */
export type Lead =
  /** This process, as with a tree that was started in it. */
  | { readonly by: 'here' }
  /** A running worker or server: this process watches, sends and answers. */
  | { readonly by: 'workers' }
  /** Nobody yet: it must be led on another machine, and no worker runs there. */
  | { readonly by: 'nobody'; readonly placement: readonly string[] };

/** What to tell a person who opens such a tree. */
export function notLedYet({ placement }: Extract<Lead, { by: 'nobody' }>): string {
  const labels = placement.map(clean).join(', ') || 'none required';
  return `no process leads it yet: start coppice worker (labels: ${labels}); until then messages wait`;
}

/** Leaves a served tree to workers while one runs that may lead it, and always if its folder is on another machine. */
export async function leadOf(store: Store, root_id: string, env: NodeJS.ProcessEnv): Promise<Lead> {
  const placement = await store.placement(root_id);
  if (placement === null) return { by: 'here' };
  if (await isServed(store, placement)) return { by: 'workers' };
  return otherMachine(placement, env) === undefined ? { by: 'here' } : { by: 'nobody', placement };
}

/** Who leads a tree that is started now: this process, or workers if it is entered for them with a placement. */
export async function leadOfNew(store: Store, placement: readonly string[] | null): Promise<Lead> {
  if (placement === null) return { by: 'here' };
  return (await isServed(store, placement)) ? { by: 'workers' } : { by: 'nobody', placement };
}

/** Whether a worker or server runs that may lead such a tree. */
export async function isServed(store: Store, placement: readonly string[]): Promise<boolean> {
  return (await livingWorkers(store)).some((worker) => mayLead(worker, placement));
}

/** Whether the worker takes over served trees of this placement by itself. */
export function mayLead({ role, labels, draining }: KnownWorker, placement: readonly string[]): boolean {
  return role !== 'run' && !draining && placement.every((label) => labels.includes(label));
}

/** Throws `E_USAGE` for a tree whose folder is on another machine. */
export async function assertMayLeadHere(
  store: Store,
  root_id: string,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const host = otherMachine((await store.placement(root_id)) ?? [], env);
  if (host === undefined) return;
  throw new CoppiceError('E_USAGE', `the tree is bound to another machine: ${host}`, {
    hint: 'Its folder is there. Start coppice worker on that machine; if the folder is here, set COPPICE_HOST to its name.',
  });
}
