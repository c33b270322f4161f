import { useLayoutEffect, useRef } from 'preact/hooks';
import { addressNow, placeOf, type Route } from '../../data/route.ts';
import { ORDERS, type Order } from './agent-map.tsx';
import type { Range } from './axis.ts';
import type { Timeline } from './lanes.ts';
import type { Selection } from './picture.ts';

/** Shown where the tree has a workflow run, and then first. */
export const WORKFLOW_TAB = ['workflow', 'Workflow'] as const;
export const TABS = [
  WORKFLOW_TAB,
  ['tokens', 'Tokens'],
  ['cost', 'Cost'],
  ['messages', 'Messages'],
  ['tree', 'Tree'],
  ['tasks', 'Tasks'],
  ['files', 'Files'],
] as const;
export type Tab = (typeof TABS)[number][0];
/** Minimum interval between changes of the address, as while zooming; browsers refuse more frequent ones. */
const LINK_MS = 250;

function numberIn(query: URLSearchParams, name: string): number | null {
  const value = Number(query.get(name) ?? Number.NaN);
  return Number.isFinite(value) && value >= 0 ? value : null;
}

function rangeIn(query: URLSearchParams): Range | null {
  const [from, to] = [numberIn(query, 'from'), numberIn(query, 'to')];
  return from === null || to === null || to <= from ? null : { from, to };
}

/** The tab of an address that names none. */
function usualTab({ lanes }: Timeline): Tab {
  return lanes[0]?.about.workflow != null ? 'workflow' : 'tokens';
}

export function linkedIn(query: URLSearchParams, timeline: Timeline): Linked {
  const { lanes } = timeline;
  const lane = lanes.find(({ id }) => id === query.get('agent'));
  const why = numberIn(query, 'why');
  const asked = lane?.bars.findIndex(({ seq }) => seq === why) ?? -1;
  const bar = numberIn(query, 'step') ?? (asked < 0 ? null : asked);
  return {
    tab: TABS.find(([name]) => name === query.get('tab'))?.[0] ?? usualTab(timeline),
    selected: lane === undefined ? null : { lane: lane.index, bar },
    why: lane === undefined ? null : why,
    shown: rangeIn(query),
    until: numberIn(query, 'at'),
    order: ORDERS.find(([name]) => name === query.get('sort'))?.[0] ?? 'birth',
  };
}

/** Contents of the page's address besides the tree. */
export interface Linked {
  readonly tab: Tab;
  readonly selected: Selection | null;
  readonly shown: Range | null;
  readonly until: number | null;
  readonly order: Order;
  /** Message of the selected agent of which it is shown what led to it. */
  readonly why: number | null;
}

/** Keeps the address in line with what is shown, so that it can be shared. A change of tab is a step that Back undoes. `route`: what the address was when somebody last went to it. */
export function usePermanentLink(
  timeline: Timeline,
  route: Route,
  { tab, selected, shown, until, order, why }: Linked,
): void {
  const agent = selected === null ? null : (timeline.lanes[selected.lane]?.id ?? null);
  const free_at = useRef(0);
  /** The address that what is shown has followed, or that was written for it. */
  const known = useRef({ route, address: route.address });
  if (known.current.route !== route) known.current = { route, address: route.address };
  // Not after the next frame: a key may leave the page before it.
  useLayoutEffect(() => {
    const { address: from } = known.current;
    const query = new URLSearchParams();
    if (tab !== usualTab(timeline)) query.set('tab', tab);
    if (agent !== null) query.set('agent', agent);
    if (selected?.bar != null) query.set('step', String(selected.bar));
    if (shown !== null) {
      query.set('from', String(Math.round(shown.from)));
      query.set('to', String(Math.round(shown.to)));
    }
    if (until !== null) query.set('at', String(Math.round(until)));
    if (order !== 'birth') query.set('sort', order);
    if (why !== null) query.set('why', String(why));
    const text = query.toString();
    const address = `/trees/${timeline.root_id}${text === '' ? '' : `?${text}`}`;
    const steps = query.get('tab') !== new URL(from, 'http://dashboard').searchParams.get('tab');
    const write = () => {
      // Meanwhile somebody went back or forward: what is shown follows the address.
      if (addressNow() !== from || address === from) return;
      free_at.current = performance.now() + LINK_MS;
      known.current = { route, address };
      window.history[steps ? 'pushState' : 'replaceState'](null, '', placeOf(address));
    };
    const left_ms = steps ? 0 : free_at.current - performance.now();
    if (left_ms <= 0) return write();
    const timer = setTimeout(write, left_ms);
    window.addEventListener('settle-address', write);
    return () => {
      clearTimeout(timer);
      window.removeEventListener('settle-address', write);
    };
  }, [tab, agent, selected?.bar, shown, until, order, why]);
}
