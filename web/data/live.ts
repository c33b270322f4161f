/** Notifications of changes in the ledger, from one event stream for the whole page. */

/** `trees`: roots of the trees that have changed; null: anything may have changed. */
type Listener = (trees: readonly string[] | null) => void;

/** Types of events after which a page may be stale. */
const KINDS = ['changed', 'removed', 'workers', 'resync'] as const;

const listeners = new Set<Listener>();
let source: EventSource | null = null;

/** Calls the listener after each change, until the returned function is called. The browser reconnects by itself. */
export function onChange(listener: Listener): () => void {
  listeners.add(listener);
  source ??= open();
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    source?.close();
    source = null;
  };
}

function open(): EventSource {
  const events = new EventSource('/v1/events?brief=true');
  for (const kind of KINDS)
    events.addEventListener(kind, ({ data }) => {
      const { trees = null } = JSON.parse(data) as { readonly trees?: readonly string[] };
      for (const listener of listeners) listener(trees);
    });
  return events;
}
