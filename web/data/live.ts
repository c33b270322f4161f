import type { EventDocument } from '../../src/documents/shapes/event-documents.ts';
import { ask } from './session.ts';

/** Notifications of changes in the ledger, from one event stream for the whole page. */

/** `trees`: roots of the trees that have changed; null: anything may have changed. */
type Listener = (trees: readonly string[] | null) => void;

/** Pause before the stream is opened again: after a break, and after a refusal. */
const PAUSE_MS = { broken: 1_000, refused: 5_000 } as const;

const listeners = new Set<Listener>();
let stream: AbortController | null = null;

/** Calls the listener after each change, until the returned function is called. */
export function onChange(listener: Listener): () => void {
  listeners.add(listener);
  if (stream === null) {
    stream = new AbortController();
    const tell = (trees: readonly string[] | null) => {
      for (const one of listeners) one(trees);
    };
    void follow({
      path: '/v1/events?brief=true',
      signal: stream.signal,
      last: { id: '' },
      onEvent: ({ trees = null }) => tell(trees),
      // The answers to what a page shows say why.
      onRefused: () => tell(null),
    });
  }
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    stream?.abort();
    stream = null;
  };
}

export interface Followed {
  readonly path: string;
  readonly signal: AbortSignal;
  /** Id of the last event that was read: a stream goes on after it. */
  readonly last: { id: string };
  readonly onEvent: (event: EventDocument) => void;
  /** The server refuses, or is not reached any more. */
  readonly onRefused?: () => void;
}

/**
 * Reads a stream of events, and opens it again, until the signal. Not an `EventSource`, which sends no header of the session. None is open while the page is
 * hidden: browsers give all pages of a server six connections together, and with as many tabs nothing else would be answered.
 */
export async function follow(followed: Followed): Promise<void> {
  const { signal, onRefused } = followed;
  let lost = false;
  while (!signal.aborted) {
    const hides = new AbortController();
    const look = () => document.visibilityState === 'hidden' && hides.abort();
    document.addEventListener('visibilitychange', look);
    look();
    const open = AbortSignal.any([signal, hides.signal]);
    let body: Response['body'] | undefined;
    await inSlot(async () => {
      body = await opened({ ...followed, signal: open }).catch(() => null);
      if (body instanceof ReadableStream) await read(body, followed).catch(() => undefined);
    });
    document.removeEventListener('visibilitychange', look);
    if (signal.aborted) return;
    if (hides.signal.aborted) await shown();
    else {
      if (body === undefined || (body === null && !lost)) onRefused?.();
      await new Promise((resolve) =>
        setTimeout(resolve, PAUSE_MS[body === undefined ? 'refused' : 'broken']),
      );
    }
    lost = body === null && !hides.signal.aborted;
  }
}

/** Does the work while fewer than four streams of all windows are open, so that two connections are left for requests. Whoever has none is refused, and asks again. */
async function inSlot(work: () => Promise<void>, slots = [1, 2, 3, 4]): Promise<boolean> {
  const [slot, ...others] = slots;
  if (slot === undefined) return false;
  // Pages that the browser does not trust, such as from http: on another machine, have no locks.
  if (!('locks' in navigator)) return work().then(() => true);
  const done = await navigator.locks.request(`coppice stream ${slot}`, { ifAvailable: true }, (lock) =>
    lock === null ? false : work().then(() => true),
  );
  return done || inSlot(work, others);
}

function shown(): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (document.visibilityState === 'hidden') return;
      document.removeEventListener('visibilitychange', look);
      resolve();
    };
    document.addEventListener('visibilitychange', look);
    look();
  });
}

/** Opens one connection, from after `last`. Resolves to undefined if the server refuses; rejects if it is not reached. */
async function opened({ path, signal, last }: Followed): Promise<Response['body'] | undefined> {
  const headers = last.id === '' ? {} : { 'last-event-id': last.id };
  const { ok, body } = await ask(path, { headers, signal });
  return ok ? body : undefined;
}

/** Reads one connection to its end; rejects if it breaks. */
async function read(body: NonNullable<Response['body']>, { last, onEvent }: Followed): Promise<void> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    const blocks = (text + piece.value).split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      last.id = /^id: (.*)$/m.exec(block)?.[1] ?? last.id;
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (data !== undefined) onEvent(JSON.parse(data) as EventDocument);
    }
  }
}
