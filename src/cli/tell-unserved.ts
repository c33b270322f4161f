import type { Store, WorkerRole } from '../store/store.ts';

/** A timer that nobody looks at must not look as if it ran. */
export function tellUnserved(store: Store): Promise<void> {
  return tell(store, 'fires', ['serve']);
}

/** The same of a tree that waits for somebody to lead it. */
export function tellUnled(store: Store): Promise<void> {
  return tell(store, 'leads', ['serve', 'worker']);
}

async function tell(store: Store, verb: string, roles: readonly WorkerRole[]): Promise<void> {
  const there = (await store.workers()).some(({ role }) => roles.includes(role));
  if (!there) process.stderr.write(`nothing ${verb} it yet: start coppice serve (and keep it running)\n`);
}
