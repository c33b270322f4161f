import { useEffect, useState } from 'preact/hooks';
import { type ApiError, request } from '../../data/api.ts';
import { EXPORTED } from '../../data/exported.ts';
import { onChange } from '../../data/live.ts';
import { at, type Timeline, type TimelineDocument, unpacked } from './lanes.ts';

/** What goes on grows by this step. */
const TICK_MS = 1_000;
/** When the whole answer takes longer, the agents are shown before what they did. */
const AGENTS_MS = 60;
/** What no event told of. */
const QUIET_MS = 15_000;
/** What takes long is asked for less often: it takes no more than one part in so many of the time. */
const SHARE = 20;
/** Who had to wait asks at a whole second: pages that ask at the same moment share one read. */
const BEAT_MS = 1_000;

export interface LiveTimeline {
  readonly timeline: Timeline | null;
  readonly error: ApiError | null;
}

/** The timeline of a tree, which follows the events while the page is visible; after the first time only lanes that changed are asked for. */
export function useTimeline(tree: string): LiveTimeline {
  const [state, setState] = useState<LiveTimeline>({ timeline: null, error: null });
  useEffect(() => {
    let known: Timeline | null = null;
    let came_at = 0;
    let left = false;
    let due: ReturnType<typeof setTimeout> | undefined;
    let rested_until = 0;
    let loads = false;
    let again = false;
    const path = `/v1/trees/${encodeURIComponent(tree)}/timeline`;
    const loadAgents = async () => {
      const answer = await request<TimelineDocument>('GET', `${path}?agents=true`);
      if (!left && known === null) setState({ timeline: unpacked(answer, null), error: null });
    };
    const load = async () => {
      due = undefined;
      loads = true;
      const began = performance.now();
      const after = known === null ? '' : `?after=${known.after}`;
      try {
        const answer = await request<TimelineDocument>('GET', path + after);
        known = unpacked(answer, known);
        came_at = performance.now();
        if (!left) setState({ timeline: known, error: null });
      } catch (error) {
        if (!left) setState({ timeline: known, error: error as ApiError });
      }
      rested_until = performance.now() + (performance.now() - began) * SHARE;
      loads = false;
      if (again) soon();
    };
    const soon = () => {
      again = loads;
      if (left || loads || document.visibilityState !== 'visible') return;
      const left_ms = rested_until - performance.now();
      const beat_ms = BEAT_MS - ((Date.now() + left_ms) % BEAT_MS);
      due ??= setTimeout(load, left_ms <= 0 ? 0 : left_ms + beat_ms);
    };
    const tick = () => {
      if (known?.lives !== true || document.visibilityState !== 'visible') return;
      setState(({ error }) => ({ timeline: at(known as Timeline, performance.now() - came_at), error }));
    };
    setState({ timeline: null, error: null });
    void load();
    // The whole answer tells what is wrong.
    const slow = setTimeout(() => known === null && loadAgents().catch(() => undefined), AGENTS_MS);
    const timers = EXPORTED === null ? [setInterval(tick, TICK_MS), setInterval(soon, QUIET_MS)] : [];
    const stop = onChange((trees) => {
      if (trees === null || known === null || trees.includes(known.root_id)) soon();
    });
    document.addEventListener('visibilitychange', soon);
    return () => {
      left = true;
      stop();
      clearTimeout(slow);
      clearTimeout(due);
      for (const timer of timers) clearInterval(timer);
      document.removeEventListener('visibilitychange', soon);
    };
  }, [tree]);
  return state;
}
