import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useReducer, useRef } from 'preact/hooks';
import { usePrinting } from '../data/printing.ts';

const BEYOND_PX = 600;
/** Height of an item that has not been measured yet. */
const ESTIMATE_PX = 72;

export interface VirtualListProps {
  readonly label: string;
  readonly count: number;
  readonly item: (index: number) => ComponentChildren;
  /** Reports the items that are in or near the view; `to` is exclusive. */
  readonly onView: (from: number, to: number) => void;
  /** Initial position: an item, or the end, which the list then follows. */
  readonly start: number | 'end';
  /** An item to go to, whenever this is another object. */
  readonly target?: { readonly index: number } | null;
}

/**
 * A virtualized list of any length: only items in or near the view exist. Heights are measured as items appear; what is in view keeps
 * its position when items above it turn out to be higher or lower than estimated.
 */
export function VirtualList({ label, count, item, onView, start, target: wanted = null }: VirtualListProps) {
  const [, render] = useReducer((n: number) => n + 1, 0);
  const scroller = useRef<HTMLElement>(null);
  const heights = useRef<number[]>([]);
  const anchor = useRef<number | 'end' | null>(start);
  /** Last scroll position that was set by code; any other was set by a person. */
  const set_top = useRef(0);
  const observer = useRef<ResizeObserver>(undefined);
  const gone_to = useRef<VirtualListProps['target']>(null);
  if (wanted !== null && wanted !== gone_to.current) {
    gone_to.current = wanted;
    anchor.current = wanted.index;
  }

  /** Before heights change, and not only after a scroll event: that one may come when the end is elsewhere already. */
  function followEnd(): void {
    const box = scroller.current;
    if (box === null || anchor.current !== null) return;
    if (box.scrollHeight - box.scrollTop - box.clientHeight < 4) anchor.current = 'end';
  }

  const offsets = new Float64Array(count + 1);
  for (let index = 0; index < count; index += 1)
    offsets[index + 1] = (offsets[index] ?? 0) + (heights.current[index] ?? ESTIMATE_PX);
  const known = useRef(offsets);
  known.current = offsets;
  const { scrollTop = 0, clientHeight = 800 } = scroller.current ?? {};
  followEnd();
  const printing = usePrinting();
  // Paper has no place in view: it is the one to come back to.
  if (printing) anchor.current ??= indexAt(offsets, scrollTop);
  const target = anchor.current;
  const top =
    target === 'end'
      ? (offsets[count] ?? 0) - clientHeight
      : target === null
        ? scrollTop
        : (offsets[Math.min(target, count)] ?? 0);
  const from = printing ? 0 : indexAt(offsets, top - BEYOND_PX);
  const to = printing ? count : Math.min(count, indexAt(offsets, top + clientHeight + BEYOND_PX) + 1);

  observer.current ??= new ResizeObserver((entries) => {
    const box = scroller.current;
    if (box === null) return;
    followEnd();
    let shift = 0;
    let changed = false;
    for (const { target: element, borderBoxSize } of entries) {
      const height = borderBoxSize[0]?.blockSize ?? 0;
      const index = Number((element as HTMLElement).dataset.index);
      const before = heights.current[index] ?? ESTIMATE_PX;
      if (!element.isConnected || height === heights.current[index]) continue;
      heights.current[index] = height;
      changed = true;
      if ((known.current[index] ?? 0) + before <= box.scrollTop) shift += height - before;
    }
    if (!changed) return;
    if (shift !== 0 && anchor.current === null) {
      box.scrollTop += shift;
      set_top.current = box.scrollTop;
    }
    render(0);
  });

  useLayoutEffect(() => {
    const box = scroller.current;
    if (box === null || anchor.current === null) return;
    box.scrollTop = anchor.current === 'end' ? box.scrollHeight : top;
    set_top.current = box.scrollTop;
  });
  useEffect(() => {
    if (!printing) onView(from, to);
  }, [from, to, count, onView, printing]);
  useEffect(() => {
    const resized = new ResizeObserver(() => render(0));
    if (scroller.current !== null) resized.observe(scroller.current);
    return () => {
      resized.disconnect();
      observer.current?.disconnect();
    };
  }, []);

  const scrolled = () => {
    const box = scroller.current;
    if (box === null) return;
    if (Math.abs(box.scrollTop - set_top.current) > 1) anchor.current = null;
    set_top.current = box.scrollTop;
    render(0);
  };
  /** The browser would go to the end by the heights of that moment, which differ from those measured on the way. */
  const pressed = (event: KeyboardEvent) => {
    const to_end = event.key === 'End';
    if ((!to_end && event.key !== 'Home') || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey)
      return;
    event.preventDefault();
    anchor.current = to_end ? 'end' : 0;
    render(0);
  };
  return (
    <section
      class="scroller"
      ref={scroller}
      onScroll={scrolled}
      onKeyDown={pressed}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by the keyboard.
      tabIndex={0}
      aria-label={label}
    >
      <div style={{ height: `${offsets[from] ?? 0}px` }} />
      {Array.from({ length: Math.max(0, to - from) }, (_, offset) => (
        <Item key={from + offset} index={from + offset} observer={observer.current}>
          {item(from + offset)}
        </Item>
      ))}
      <div style={{ height: `${(offsets[count] ?? 0) - (offsets[to] ?? 0)}px` }} />
    </section>
  );
}

interface ItemProps {
  readonly index: number;
  readonly observer: ResizeObserver | undefined;
  readonly children: ComponentChildren;
}

function Item({ index, observer, children }: ItemProps) {
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = ref.current;
    if (element === null) return;
    observer?.observe(element);
    return () => observer?.unobserve(element);
  }, [observer]);
  return (
    <div ref={ref} class="item" data-index={index}>
      {children}
    </div>
  );
}

/** Index of the item at a distance in pixels from the top. */
function indexAt(offsets: Float64Array, top: number): number {
  let [low, high] = [0, Math.max(0, offsets.length - 2)];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((offsets[middle] ?? 0) <= top) low = middle;
    else high = middle - 1;
  }
  return low;
}
