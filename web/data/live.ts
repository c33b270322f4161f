/** What happens in the ledger, from one event stream for the whole page. */

import { EXPORTED } from './exported.ts';

type Listener = () => void;

/** Events after which what a page shows may be out of date. */
const KINDS = ['tree', 'agent', 'message', 'mail', 'approval', 'removed', 'workers', 'resync'] as const;

const listeners = new Set<Listener>();
let source: EventSource | null = null;

/** Calls the listener when something has happened, until the returned function is called. The browser reconnects by itself. */
export function onChange(listener: Listener): () => void {
  if (EXPORTED !== null) return () => undefined;
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
  const events = new EventSource('/v1/events');
  const tell = () => {
    for (const listener of listeners) listener();
  };
  for (const kind of KINDS) events.addEventListener(kind, tell);
  return events;
}
