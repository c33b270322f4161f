/** Notifications of changes in the ledger, from one event stream for the whole page. */

/** `trees`: roots of the trees that have changed; null: anything may have changed. */
type Listener = (trees: readonly string[] | null) => void;

/** Types of events after which a page may be stale. */
const KINDS = ['changed', 'removed', 'workers', 'resync'] as const;
/** Pause after a refused stream. */
const PAUSE_MS = 5_000;

const listeners = new Set<Listener>();
let source: EventSource | null = null;

/** Calls the listener after each change, until the returned function is called. */
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

/** Opens the stream. The browser reconnects by itself after a lost connection, but not after an answer other than 200. */
function open(): EventSource {
  const events = new EventSource('/v1/events?brief=true');
  for (const kind of KINDS)
    events.addEventListener(kind, ({ data }) => {
      const { trees = null } = JSON.parse(data) as { readonly trees?: readonly string[] };
      for (const listener of listeners) listener(trees);
    });
  events.addEventListener('error', () => {
    if (events.readyState !== EventSource.CLOSED) return;
    setTimeout(() => {
      if (source === events) source = open();
    }, PAUSE_MS);
  });
  return events;
}
