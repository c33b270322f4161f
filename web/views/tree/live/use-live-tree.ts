import { useEffect, useRef, useState } from 'preact/hooks';
import type { DocumentOf } from '../../../../src/documents/shapes/all-documents.ts';
import type { EventDocument } from '../../../../src/documents/shapes/event-documents.ts';
import { type ApiError, request } from '../../../data/api.ts';
import { follow } from '../../../data/live.ts';
import { type TimelineDocument, unpacked } from '../lanes.ts';
import { CELL_MS, type LiveRow, LiveRows } from './live-rows.ts';
import { Tail, type TailLine } from './tail.ts';

/** What many events have changed is drawn together, so often at most. */
const FLUSH_MS = 250;

export interface LiveTree {
  readonly title: string;
  readonly rows: readonly LiveRow[];
  /** What the chosen agent said and did last; the end may still be written. */
  readonly tail: readonly TailLine[];
  readonly error: ApiError | null;
}

/** A tree and the newest words of one of its agents, read once and then followed by their events. */
export function useLiveTree(tree: string, chosen: string | null): LiveTree {
  const [state, setState] = useState<LiveTree>({ title: '', rows: [], tail: [], error: null });
  const known = useRef({ rows: new LiveRows(), last: { id: '' } });
  const flush = useRef<() => void>(() => undefined);

  useEffect(() => {
    const timer = setInterval(() => {
      known.current.rows.next();
      flush.current();
    }, CELL_MS);
    // Once: what happened before the page was opened.
    request<TimelineDocument>('GET', `/v1/trees/${tree}/timeline`).then(
      (answer) => {
        known.current.rows.remember(unpacked(answer, null));
        flush.current();
      },
      () => undefined,
    );
    return () => clearInterval(timer);
  }, [tree]);

  useEffect(() => {
    const { rows, last } = known.current;
    const tail = new Tail();
    const stop = new AbortController();
    let due: ReturnType<typeof setTimeout> | undefined;
    const show = (more: Partial<LiveTree> = {}) => {
      due = undefined;
      if (!stop.signal.aborted)
        setState((before) => ({ ...before, rows: rows.rows(), tail: tail.lines(), ...more }));
    };
    flush.current = () => {
      due ??= setTimeout(show, FLUSH_MS);
    };
    const loadTree = async () => {
      rows.begin();
      try {
        const { title, agents } = await request<DocumentOf<'coppice/tree/v1'>>('GET', `/v1/trees/${tree}`);
        rows.take(agents);
        show({ title, error: null });
      } catch (error) {
        show({ error: error as ApiError });
      }
    };
    const loadTail = async () => {
      if (chosen === null) return;
      // The rows have the error.
      await tail.load(chosen).catch(() => undefined);
      flush.current();
    };
    const take = (event: EventDocument) => {
      if (event.type === 'resync') {
        void loadTree();
        void loadTail();
      } else if (event.type === 'agent' && event.agent !== undefined) rows.put(event.agent);
      else if (event.type === 'removed') rows.remove(event.ids ?? []);
      else if (event.agent_id === chosen) tail.take(event);
      flush.current();
    };
    // The stream goes on where that of the agent before ended, so the tree is not read again.
    if (last.id !== '') void loadTail();
    void follow({
      path: `/v1/events?tree=${tree}${chosen === null ? '' : `&agent=${chosen}`}`,
      signal: stop.signal,
      last,
      onEvent: take,
      onRefused: () => {
        void loadTree();
        void loadTail();
      },
    });
    return () => {
      stop.abort();
      clearTimeout(due);
    };
  }, [tree, chosen]);
  return state;
}
