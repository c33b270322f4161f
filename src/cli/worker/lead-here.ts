import { CoppiceError } from '../../records/coppice-error.ts';
import type { KnownWorker, Store } from '../../store/store.ts';
import { livingWorkers } from './leaders.ts';
import { hostLabel } from './worker-labels.ts';

/** Who goes on with a tree that a person opens. */
export type Lead =
  /** This process, as with a tree that was begun in it. */
  | { readonly by: 'here' }
  /** A worker or server that runs: this process looks on, sends and answers. */
  | { readonly by: 'workers' }
  /** Nobody yet: it must be led on another machine, and no worker runs there. */
  | { readonly by: 'nobody'; readonly placement: readonly string[] };

/** Served trees are left to those who serve, while one runs that may lead them; folders of another machine always. */
export async function leadOf(store: Store, root_id: string, env: NodeJS.ProcessEnv): Promise<Lead> {
  const placement = await store.placement(root_id);
  if (placement === null) return { by: 'here' };
  if (await isServed(store, placement)) return { by: 'workers' };
  return otherMachine(placement, env) === undefined ? { by: 'here' } : { by: 'nobody', placement };
}

/** A worker or server runs that has these labels. */
export async function isServed(store: Store, placement: readonly string[]): Promise<boolean> {
  return (await livingWorkers(store)).some((worker) => mayLead(worker, placement));
}

/** It takes over served trees by itself, those of this placement too. */
export function mayLead({ role, labels, draining }: KnownWorker, placement: readonly string[]): boolean {
  return role !== 'run' && !draining && placement.every((label) => labels.includes(label));
}

/** A folder of another machine is not here, whatever a person says. */
export async function assertMayLeadHere(
  store: Store,
  root_id: string,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const host = otherMachine((await store.placement(root_id)) ?? [], env);
  if (host === undefined) return;
  throw new CoppiceError('E_USAGE', `the tree is bound to another machine: ${host.slice('host:'.length)}`, {
    hint: 'Its folder is there. Start coppice worker on that machine; if the folder is here, set COPPICE_HOST to its name.',
  });
}

/** The label of a machine that this one is not. */
export function otherMachine(placement: readonly string[], env: NodeJS.ProcessEnv): string | undefined {
  return placement.find((label) => label.startsWith('host:') && label !== hostLabel(env));
}
