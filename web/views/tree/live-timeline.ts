import { useEffect, useState } from 'preact/hooks';
import { type ApiError, refresh, request } from '../../data/api.ts';
import { EXPORTED } from '../../data/exported.ts';
import { refreshing } from '../../data/refreshing.ts';
import { at, type Timeline, type TimelineDocument, unpacked } from './lanes.ts';

/** Interval at which open bars grow. */
const TICK_MS = 1_000;
/** If the whole answer takes longer than this, the agents are shown first, without their bars. */
const AGENTS_MS = 60;
/** Interval of reloads without an event. */
const QUIET_MS = 15_000;

export interface LiveTimeline {
  readonly timeline: Timeline | null;
  readonly error: ApiError | null;
}

/** Timeline of a tree, kept up to date by events while the page is visible; after the first load, only changed lanes are requested. */
export function useTimeline(tree: string): LiveTimeline {
  const [state, setState] = useState<LiveTimeline>({ timeline: null, error: null });
  useEffect(() => {
    let known: Timeline | null = null;
    let came_at = 0;
    let left = false;
    const path = `/v1/trees/${encodeURIComponent(tree)}/timeline`;
    const loadAgents = async () => {
      const answer = await request<TimelineDocument>('GET', `${path}?agents=true`);
      if (!left && known === null) setState({ timeline: unpacked(answer, null), error: null });
    };
    const load = async () => {
      try {
        const answer = await (known === null
          ? request<TimelineDocument>('GET', path)
          : refresh<TimelineDocument>(`${path}?after=${known.after}`));
        if (typeof answer === 'number') return answer;
        known = unpacked(answer, known);
        came_at = performance.now();
        if (!left) setState({ timeline: known, error: null });
      } catch (error) {
        if (!left) setState({ timeline: known, error: error as ApiError });
      }
      return 0;
    };
    const tick = () => {
      if (known?.lives !== true || document.visibilityState !== 'visible') return;
      setState(({ error }) => ({ timeline: at(known as Timeline, performance.now() - came_at), error }));
    };
    setState({ timeline: null, error: null });
    const concerns = (trees: readonly string[] | null) =>
      trees === null || known === null || trees.includes(known.root_id);
    const stop = refreshing({ load, every_ms: 0, quiet_ms: QUIET_MS, concerns });
    // Errors are ignored, because the request for the whole answer reports them.
    const slow = setTimeout(() => known === null && loadAgents().catch(() => undefined), AGENTS_MS);
    const timer = EXPORTED === null ? setInterval(tick, TICK_MS) : undefined;
    return () => {
      left = true;
      stop();
      clearTimeout(slow);
      clearInterval(timer);
    };
  }, [tree]);
  return state;
}
