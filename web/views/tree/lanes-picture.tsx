import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { dollars } from '../../data/amounts.ts';
import { usePrinting } from '../../data/printing.ts';
import { StatusSign } from '../../parts/status.tsx';
import { type Range, shifted, zoomed } from './axis.ts';
import { barAt, type Lane, wordThen } from './lanes.ts';
import { AXIS_HEIGHT, Picture, type Scene, type Selection } from './picture.ts';
import type { Row } from './rows.ts';

interface LanesProps {
  readonly scene: Omit<Scene, 'hovered' | 'scroll' | 'row_height'>;
  readonly onRange: (range: Range) => void;
  readonly onSelect: (selected: Selection | null) => void;
  readonly onGroup: (key: string) => void;
}

/** A lane per agent: names beside a canvas of which only the visible part is drawn. */
export function LanesPicture({ scene, onRange, onSelect, onGroup }: LanesProps) {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const picture = useRef<Picture | null>(null);
  const spacer = useRef<HTMLDivElement>(null);
  const [hovered, setHovered] = useState<number | null>(null);
  const [scroll, setScroll] = useState(0);
  const [height, setHeight] = useState(0);
  const { rows, range, axis } = scene;
  const row_height = rows.length <= FEW_ROWS ? ROW_HEIGHTS.few : ROW_HEIGHTS.many;
  const printing = usePrinting();
  const wheel = useRef<(event: WheelEvent) => void>(() => undefined);

  const measure = () => {
    const outer = box.current as HTMLDivElement;
    const names = canvas.current?.offsetLeft ?? 0;
    picture.current?.resize(outer.clientWidth - names, outer.clientHeight);
    setHeight(outer.clientHeight);
  };
  useLayoutEffect(() => {
    const drawn = new Picture(canvas.current as HTMLCanvasElement);
    picture.current = drawn;
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(box.current as HTMLDivElement);
    const looks = ['(prefers-color-scheme: dark)', '(forced-colors: active)'].map((one) =>
      window.matchMedia(one),
    );
    const recolor = () => drawn.recolor();
    for (const look of looks) look.addEventListener('change', recolor);
    const turn = (event: WheelEvent) => wheel.current(event);
    // A listener that may prevent the scroll cannot be a passive one.
    box.current?.addEventListener('wheel', turn, { passive: false });
    return () => {
      watch.disconnect();
      for (const look of looks) look.removeEventListener('change', recolor);
      drawn.stop();
    };
  }, []);
  useLayoutEffect(() => {
    const all = rows.length * row_height + AXIS_HEIGHT;
    spacer.current?.style.setProperty('height', `${all}px`);
    // A small tree takes no more height than it needs.
    box.current?.style.setProperty('--all-rows', `${Math.max(HEIGHT_MIN, all + row_height)}px`);
    box.current?.style.setProperty('--row-height', `${row_height}px`);
  }, [rows.length]);
  useEffect(
    () => picture.current?.show({ ...scene, hovered, scroll, row_height }),
    [scene, hovered, scroll, row_height],
  );

  useLayoutEffect(() => {
    if (!printing) return;
    measure();
    setScroll(0);
    picture.current?.show({ ...scene, hovered: null, scroll: 0, row_height });
    picture.current?.recolor();
    // The browser prints what is there when this event is over.
    picture.current?.paint();
    return () => {
      measure();
      picture.current?.recolor();
      box.current?.scrollTo({ top: scroll });
    };
  }, [printing]);

  const placeOf = (clientX: number) => {
    const left = canvas.current?.getBoundingClientRect().left ?? 0;
    return range.from + ((clientX - left) / (picture.current?.width || 1)) * (range.to - range.from);
  };
  wheel.current = (event) => {
    const scrolls = rows.length * row_height + AXIS_HEIGHT > height + 1;
    const onAxis = event.clientY - (box.current?.getBoundingClientRect().top ?? 0) < AXIS_HEIGHT;
    const across = Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey;
    const moved = event.deltaX || event.deltaY;
    if (across) onRange(shifted(range, (moved / 600) * (range.to - range.from), axis.length));
    else if (event.ctrlKey || event.metaKey || onAxis || !scrolls)
      onRange(zoomed(range, 1.0015 ** event.deltaY, placeOf(event.clientX), axis.length));
    else return;
    event.preventDefault();
  };
  const rowAt = (clientY: number): Row | undefined => {
    const y = clientY - (box.current?.getBoundingClientRect().top ?? 0) - AXIS_HEIGHT;
    return y < 0 ? undefined : rows[Math.floor((y + scroll) / row_height)];
  };
  const drag = useDrag((pixels) =>
    onRange(shifted(range, (-pixels / (picture.current?.width || 1)) * (range.to - range.from), axis.length)),
  );
  const pick = (event: MouseEvent) => {
    if (drag.moved()) return;
    const row = rowAt(event.clientY);
    if (row === undefined) return onSelect(null);
    if (row.type === 'group') return onGroup(row.key);
    onSelect({ lane: row.lane.index, bar: barAt(row.lane, axis.from(placeOf(event.clientX))) });
  };
  const first = Math.max(0, Math.floor(scroll / row_height));
  const shown = rows.slice(first, first + Math.ceil(height / row_height) + 1);
  const missing = printing ? rows.length - Math.floor((height - AXIS_HEIGHT) / row_height) : 0;
  return (
    <>
      {missing > 0 && (
        <p class="trouble">
          The last {missing} of {rows.length} lines of the timeline have no room on this paper: the tab Tree
          prints every agent.
        </p>
      )}
      <div
        class={printing ? 'lanes on-paper' : 'lanes'}
        ref={box}
        onScroll={({ currentTarget }) => setScroll(currentTarget.scrollTop)}
      >
        <div class="lanes-view">
          <ul
            class="lane-names"
            ref={(list) => list?.style.setProperty('top', `${AXIS_HEIGHT - (scroll - first * row_height)}px`)}
          >
            {shown.map((row) => (
              <LaneName
                key={row.type === 'agent' ? row.lane.id : row.key}
                row={row}
                scene={scene}
                onSelect={onSelect}
                onGroup={onGroup}
              />
            ))}
          </ul>
          <canvas
            ref={canvas}
            class="lane-bars"
            role="img"
            aria-label="Bars of what each agent did; the tab Tree has them as a table"
            onClick={pick}
            onPointerDown={drag.down}
            onPointerMove={(event) => {
              drag.move(event);
              const row = rowAt(event.clientY);
              setHovered(row?.type === 'agent' ? row.lane.index : null);
            }}
            onPointerUp={drag.up}
            onPointerLeave={() => setHovered(null)}
          />
        </div>
        <div ref={spacer} />
      </div>
    </>
  );
}

const HEIGHT_MIN = 240;
/** Up to so many rows are tall ones. */
const FEW_ROWS = 12;
const ROW_HEIGHTS = { few: 36, many: 24 } as const;

interface NameProps extends Pick<LanesProps, 'scene' | 'onSelect' | 'onGroup'> {
  readonly row: Row;
}

function LaneName({ row, scene, onSelect, onGroup }: NameProps) {
  const indent = (element: HTMLElement | null) =>
    element?.style.setProperty('padding-left', `${8 + Math.min(row.depth, 8) * 14}px`);
  if (row.type === 'group')
    return (
      <li class={`lane-name${row.isPhase ? ' phase' : ''}`} ref={indent}>
        <button type="button" class="quiet" aria-expanded={row.isOpen} onClick={() => onGroup(row.key)}>
          <span aria-hidden="true">{row.isOpen ? '▾' : '▸'}</span> {row.name}{' '}
          {!row.isPhase && <span class="count">{row.lanes.length}</span>}
        </button>
        {row.isPhase && <PhaseCounts lanes={row.lanes} />}
      </li>
    );
  const { lane } = row;
  const chosen = scene.selected?.lane === lane.index;
  const word = wordThen(lane, scene.until);
  return (
    <li class={`lane-name${chosen ? ' chosen' : ''}${word === null ? ' later' : ''}`} ref={indent}>
      <button
        type="button"
        class="quiet"
        aria-pressed={chosen}
        onClick={() => onSelect({ lane: lane.index, bar: null })}
      >
        <StatusSign word={word ?? 'pending'} /> {lane.about.name}
      </button>
      <span class="dim">{dollars(lane.about.cost_usd)}</span>
    </li>
  );
}

function PhaseCounts({ lanes }: { readonly lanes: readonly Lane[] }) {
  const of = (...words: readonly string[]) =>
    lanes.filter(({ about }) => words.includes(about.outcome)).length;
  const failed = of('failed', 'declined', 'cut_short');
  return (
    <span class="dim">
      {failed > 0 && <span class="status failed">✗ {failed} </span>}
      {of('done')}/{lanes.length} {dollars(lanes.reduce((sum, { about }) => sum + (about.cost_usd ?? 0), 0))}
    </span>
  );
}

/** Handlers for dragging sideways; `onMove` gets the pixels since the last move. */
function useDrag(onMove: (pixels: number) => void) {
  const at = useRef<number | null>(null);
  const way = useRef(0);
  return {
    down: (event: PointerEvent) => {
      at.current = event.clientX;
      way.current = 0;
    },
    move: (event: PointerEvent) => {
      if (at.current === null || event.buttons === 0) return;
      const pixels = event.clientX - at.current;
      way.current += Math.abs(pixels);
      at.current = event.clientX;
      if (way.current > 3) onMove(pixels);
    },
    up: () => {
      at.current = null;
    },
    moved: () => way.current > 3,
  };
}
