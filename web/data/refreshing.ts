import { EXPORTED } from './exported.ts';
import { onChange } from './live.ts';

export interface Refreshing {
  /** `again`: whether it was loaded before. Resolves to the milliseconds after which the server wants a retry; 0: reload after the next change. */
  readonly load: (again: boolean) => Promise<number>;
  readonly every_ms: number;
  /** Interval of reloads without an event. */
  readonly quiet_ms: number;
  /** Whether a change of these trees concerns what is shown; null: anything may have changed. */
  readonly concerns?: (trees: readonly string[] | null) => boolean;
}

/** Loads now, and again after changes, at most every `every_ms` and while the page is visible, until the returned function is called. */
export function refreshing({ load, every_ms, quiet_ms, concerns }: Refreshing): () => void {
  let loaded_at = 0;
  let loads = false;
  let missed = false;
  let left = false;
  let due: ReturnType<typeof setTimeout> | undefined;
  let due_at = Number.POSITIVE_INFINITY;
  const run = async (again: boolean) => {
    due_at = Number.POSITIVE_INFINITY;
    if (again && document.visibilityState !== 'visible') return;
    loaded_at = Date.now();
    loads = true;
    missed = false;
    const again_ms = await load(again);
    loads = false;
    if (again_ms > 0) at(Date.now() + again_ms);
    if (missed) soon();
  };
  const at = (time: number) => {
    if (left || time >= due_at) return;
    clearTimeout(due);
    due_at = time;
    due = setTimeout(run, time - Date.now(), true);
  };
  const soon = () => {
    missed = loads;
    if (!loads) at(Math.max(Date.now(), loaded_at + every_ms));
  };
  void run(false);
  if (EXPORTED !== null) return () => undefined;
  const stop = onChange((trees) => {
    if (concerns?.(trees) !== false) soon();
  });
  const timer = setInterval(soon, quiet_ms);
  document.addEventListener('visibilitychange', soon);
  return () => {
    left = true;
    stop();
    clearInterval(timer);
    clearTimeout(due);
    document.removeEventListener('visibilitychange', soon);
  };
}
