import { useEffect, useState } from 'preact/hooks';
import { type ApiError, request } from '../../data/api.ts';
import { type Timeline, type TimelineDocument, unpacked } from './lanes.ts';

const REFRESH_MS = 1_000;

export interface LiveTimeline {
  readonly timeline: Timeline | null;
  readonly error: ApiError | null;
}

/** The timeline of a tree, again every second while the page is visible; after the first time only lanes that changed are asked for. */
export function useTimeline(tree: string): LiveTimeline {
  const [state, setState] = useState<LiveTimeline>({ timeline: null, error: null });
  useEffect(() => {
    let known: Timeline | null = null;
    let left = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const load = async () => {
      if (document.visibilityState === 'visible') {
        const after = known === null ? '' : `?after=${Math.trunc(known.after)}`;
        const path = `/v1/trees/${encodeURIComponent(tree)}/timeline${after}`;
        try {
          const answer = await request<TimelineDocument>('GET', path);
          const isNew =
            known === null ||
            known.lives ||
            answer.lanes.length > 0 ||
            answer.ids.length !== known.lanes.length;
          if (isNew) known = unpacked(answer, known);
          if (!left && isNew) setState({ timeline: known, error: null });
        } catch (error) {
          if (!left) setState({ timeline: known, error: error as ApiError });
        }
      }
      if (!left) timer = setTimeout(load, REFRESH_MS);
    };
    setState({ timeline: null, error: null });
    void load();
    return () => {
      left = true;
      clearTimeout(timer);
    };
  }, [tree]);
  return state;
}
