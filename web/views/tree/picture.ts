import { duration } from '../../data/amounts.ts';
import { plainWords } from '../../data/texts.ts';
import type { Axis, Range } from './axis.ts';
import { ticksOf } from './axis.ts';
import { type Ink, inkOf, paintArrow, paintBar, paintLabel } from './ink.ts';
import { type Bar, firstAfter, type Lane, shortName, type Timeline } from './lanes.ts';
import type { Link } from './links.ts';
import { linesOf, type Row } from './rows.ts';

export const AXIS_HEIGHT = 24;
const BAR_MARGIN = 5;
/** With more arrows than this, only those of the hovered or selected agent are drawn. */
const LINKS_MAX = 60;
const GROUP_SLICES = 4;

export interface Selection {
  readonly lane: number;
  readonly bar: number | null;
}

/** All that the picture shows. */
export interface Scene {
  readonly timeline: Timeline;
  readonly axis: Axis;
  readonly range: Range;
  readonly rows: readonly Row[];
  readonly links: readonly Link[];
  readonly selected: Selection | null;
  /** Messages that led to the one that is asked about, as `lane seq`; all other bars are faint. Null: none is asked about. */
  readonly why: ReadonlySet<string> | null;
  readonly hovered: number | null;
  /** Time of the scrubber; later bars are faint. */
  readonly until: number | null;
  readonly scroll: number;
  readonly row_height: number;
}

/** Draws the visible part of the lanes; its cost grows with what is seen, not with the tree. */
export class Picture {
  readonly #canvas: HTMLCanvasElement;
  readonly #pen: CanvasRenderingContext2D;
  #ink: Ink;
  #width = 0;
  #height = 0;
  #asked = 0;
  #scene: Scene | null = null;
  /** Taking the words out of an answer costs microseconds, and a frame can have a thousand labels. */
  readonly #words = new WeakMap<Bar, string>();

  constructor(canvas: HTMLCanvasElement) {
    this.#canvas = canvas;
    this.#pen = canvas.getContext('2d') as CanvasRenderingContext2D;
    this.#ink = inkOf(canvas.parentElement as Element);
  }

  recolor(): void {
    this.#ink = inkOf(this.#canvas.parentElement as Element);
    this.#ask();
  }

  resize(width: number, height: number): void {
    const ratio = window.devicePixelRatio;
    [this.#width, this.#height] = [width, height];
    this.#canvas.width = Math.round(width * ratio);
    this.#canvas.height = Math.round(height * ratio);
    this.#canvas.style.width = `${width}px`;
    this.#canvas.style.height = `${height}px`;
    this.#ask();
  }

  get width(): number {
    return this.#width;
  }

  show(scene: Scene): void {
    this.#scene = scene;
    this.#ask();
  }

  stop(): void {
    cancelAnimationFrame(this.#asked);
  }

  #ask(): void {
    if (this.#asked !== 0) return;
    this.#asked = requestAnimationFrame(() => this.paint());
  }

  /** At once, and not with the next frame. */
  paint(): void {
    this.stop();
    this.#asked = 0;
    if (this.#scene !== null && this.#width > 0) this.#draw(this.#scene);
  }

  #draw(scene: Scene): void {
    const pen = this.#pen;
    const ratio = window.devicePixelRatio;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, this.#width, this.#height);
    pen.font = `11px ${this.#ink.mono}`;
    pen.textBaseline = 'middle';
    const first = Math.max(0, Math.floor(scene.scroll / scene.row_height));
    const last = Math.min(scene.rows.length, Math.ceil((scene.scroll + this.#height) / scene.row_height));
    pen.save();
    pen.beginPath();
    pen.rect(0, AXIS_HEIGHT, this.#width, this.#height);
    pen.clip();
    this.#drawGrid(scene);
    for (let line = first; line < last; line += 1) {
      const row = scene.rows[line] as Row;
      const y = AXIS_HEIGHT + line * scene.row_height - scene.scroll;
      if (row.type === 'agent') this.#drawLane(scene, row.lane, y);
      else if (row.isPhase || !row.isOpen) this.#drawGroup(scene, row.lanes, y);
    }
    const lines = linesOf(scene.rows);
    this.#drawPath(scene, lines);
    this.#drawLinks(scene, lines);
    this.#drawUntil(scene);
    pen.restore();
    this.#drawAxis(scene);
    this.#canvas.dataset.painted = scene.timeline.after === '' ? 'agents' : 'bars';
  }

  #x({ axis, range }: Scene, time: number): number {
    return ((axis.to(time) - range.from) / (range.to - range.from)) * this.#width;
  }

  #drawGrid(scene: Scene): void {
    const pen = this.#pen;
    pen.fillStyle = this.#ink.line;
    pen.globalAlpha = 0.5;
    for (const tick of ticksOf(scene.axis, scene.range, this.#width / 90))
      pen.fillRect(Math.round(this.#x(scene, tick)), AXIS_HEIGHT, 1, this.#height);
    pen.globalAlpha = 1;
  }

  #drawAxis(scene: Scene): void {
    const pen = this.#pen;
    pen.fillStyle = this.#ink.raised;
    pen.fillRect(0, 0, this.#width, AXIS_HEIGHT);
    pen.fillStyle = this.#ink.line;
    pen.fillRect(0, AXIS_HEIGHT - 1, this.#width, 1);
    pen.fillStyle = this.#ink.dim;
    const folds = scene.axis.folds.map(({ start, end }) => ({
      x: this.#x(scene, start),
      wide: this.#x(scene, end) - this.#x(scene, start),
      text: `╱╱ ${duration(end - start)} idle ╱╱`,
    }));
    // A label keeps clear of its neighbours, and of the edges: the last one stands before its line.
    const put = (text: string, at: number) => {
      const wide = pen.measureText(text).width;
      const x = Math.max(3, Math.min(at, this.#width - wide - 3));
      if (taken.some(([from, to]) => x < to + 8 && x + wide > from - 8)) return;
      taken.push([x, x + wide]);
      pen.fillText(text, x, AXIS_HEIGHT / 2);
    };
    const taken: [number, number][] = [];
    for (const { x, wide, text } of folds)
      if (x + wide > 0 && x < this.#width) put(text, x + wide / 2 - pen.measureText(text).width / 2);
    for (const tick of ticksOf(scene.axis, scene.range, this.#width / 90))
      put(
        tick < 1_000 ? `${Math.round(tick)}${tick === 0 ? 's' : 'ms'}` : duration(tick),
        this.#x(scene, tick) + 3,
      );
  }

  #drawLane(scene: Scene, lane: Lane, y: number): void {
    const pen = this.#pen;
    if (scene.selected?.lane === lane.index || scene.hovered === lane.index) {
      pen.fillStyle = this.#ink.link;
      pen.globalAlpha = scene.selected?.lane === lane.index ? 0.14 : 0.07;
      pen.fillRect(0, y, this.#width, scene.row_height);
      pen.globalAlpha = 1;
    }
    const from = scene.axis.from(scene.range.from);
    const to = scene.axis.from(scene.range.to);
    const top = y + BAR_MARGIN;
    const high = scene.row_height - 2 * BAR_MARGIN;
    let drawn = -1;
    // Long calls may have begun before the first bar that is in view.
    let index = Math.max(0, firstAfter(lane.bars, from) - 8);
    for (; index < lane.bars.length; index += 1) {
      const bar = lane.bars[index] as Bar;
      if (bar.start > to) break;
      const x = this.#x(scene, bar.start);
      const end = this.#x(scene, Math.min(bar.end, scene.timeline.end));
      // Skips a bar that falls into a pixel which already has one.
      if (end < 0 || (end <= drawn && end - x < 1)) continue;
      drawn = Math.max(drawn, Math.ceil(x + 1));
      const aside = scene.why !== null && !scene.why.has(`${lane.index} ${bar.seq}`);
      pen.globalAlpha = scene.until !== null && bar.start > scene.until ? 0.12 : aside ? 0.25 : 1;
      const left = Math.max(-2, x);
      const wide = Math.min(end, this.#width + 2) - left;
      paintBar(pen, this.#ink, bar, left, top, wide, high);
      if (scene.selected?.lane === lane.index && scene.selected.bar === index) {
        pen.strokeStyle = this.#ink.text;
        pen.lineWidth = 1.5;
        pen.strokeRect(left - 1, top - 2, Math.max(3, wide) + 2, high + 4);
      }
      if (wide > 30) this.#drawBarLabel(lane, index, left, top + high / 2, wide);
      pen.globalAlpha = 1;
    }
    const { ended, status, outcome } = lane.about;
    if (ended !== null && (status === 'dead' || status === 'failed' || status === 'cancelled')) {
      pen.fillStyle = outcome === 'stopped' ? this.#ink.dim : this.#ink.bad;
      pen.fillText('✗', this.#x(scene, ended) + 2, y + scene.row_height / 2);
    }
  }

  #drawBarLabel({ bars }: Lane, index: number, x: number, middle: number, wide: number): void {
    const bar = bars[index] as Bar;
    if (bar.kind === 'idle' || bar.kind === 'queued') return;
    const next = bars[index + 1];
    // An answer without words is known by the call that it made.
    const calls = next !== undefined && next.kind !== 'request' && next.seq === bar.seq;
    const called = calls ? `→ ${deedOf(next)}` : shortName(bar.name) || 'model';
    const what = bar.kind === 'request' ? this.#wordsOf(bar) || called : deedOf(bar) || 'waits';
    const text = bar.kind === 'approval' ? `! ${what}` : what;
    const solid = bar.kind === 'request' || bar.kind === 'tool' || bar.kind === 'approval';
    paintLabel(this.#pen, this.#ink, text, x, middle + 0.5, wide, solid);
  }

  #wordsOf(bar: Bar): string {
    const words = this.#words.get(bar) ?? plainWords(bar.said);
    this.#words.set(bar, words);
    return words;
  }

  /** Draws how many agents of the group were busy, one column per slice of time. */
  #drawGroup(scene: Scene, lanes: readonly Lane[], y: number): void {
    const pen = this.#pen;
    const slices = Math.ceil(this.#width / GROUP_SLICES);
    const busy = new Uint16Array(slices);
    const from = scene.axis.from(scene.range.from);
    const to = scene.axis.from(scene.range.to);
    for (const { bars } of lanes)
      for (let index = Math.max(0, firstAfter(bars, from) - 8); index < bars.length; index += 1) {
        const bar = bars[index] as Bar;
        if (bar.start > to) break;
        if (bar.kind === 'idle' || bar.kind === 'waiting') continue;
        const x = Math.max(0, Math.floor(this.#x(scene, bar.start) / GROUP_SLICES));
        const end = Math.min(
          slices - 1,
          Math.floor(this.#x(scene, Math.min(bar.end, scene.timeline.end)) / GROUP_SLICES),
        );
        for (let slice = x; slice <= end; slice += 1) busy[slice] = (busy[slice] as number) + 1;
      }
    const most = Math.max(1, ...busy);
    pen.fillStyle = this.#ink.of.request;
    for (const [slice, count] of busy.entries()) {
      const height = (count / most) * (scene.row_height - 6);
      pen.fillRect(slice * GROUP_SLICES, y + scene.row_height - 3 - height, GROUP_SLICES - 1, height);
    }
  }

  /** Draws the critical path as a line below its bars, from agent to agent. */
  #drawPath(scene: Scene, lines: ReadonlyMap<number, number>): void {
    const pen = this.#pen;
    pen.strokeStyle = this.#ink.bad;
    pen.lineWidth = 2;
    pen.beginPath();
    let before = Number.NaN;
    for (const { lane, start, end, kind } of scene.timeline.path) {
      const line = lines.get(lane);
      if (line === undefined || kind === 'idle') continue;
      const y = AXIS_HEIGHT + (line + 1) * scene.row_height - scene.scroll - 3;
      const [x, until] = [this.#x(scene, start), this.#x(scene, end)];
      if (until < 0 || x > this.#width) continue;
      pen.moveTo(x, Number.isNaN(before) ? y : before);
      pen.lineTo(x, y);
      before = y;
      pen.lineTo(until, y);
    }
    pen.stroke();
  }

  #drawLinks(scene: Scene, lines: ReadonlyMap<number, number>): void {
    const pen = this.#pen;
    const focus = scene.hovered ?? scene.selected?.lane ?? null;
    const few = scene.links.length <= LINKS_MAX;
    for (const { type, from, to, sent, taken } of scene.links) {
      pen.lineWidth = type === 'why' ? 2.4 : 1.2;
      const touches = type === 'why' || from === focus || to === focus;
      if (!touches && !few) continue;
      const [a, b] = [lines.get(from), lines.get(to)];
      if (b === undefined || a === b || (scene.until !== null && sent > scene.until)) continue;
      const [x1, x2] = [this.#x(scene, sent), this.#x(scene, Math.min(taken, scene.timeline.end))];
      if (Math.max(x1, x2) < 0 || Math.min(x1, x2) > this.#width) continue;
      const y = (line: number) => AXIS_HEIGHT + (line + 0.5) * scene.row_height - scene.scroll;
      const color = type === 'fork' ? this.#ink.dim : type === 'wait' ? this.#ink.of.waiting : this.#ink.link;
      pen.strokeStyle = color;
      pen.fillStyle = color;
      pen.globalAlpha = touches || focus === null ? 0.9 : 0.25;
      paintArrow(
        pen,
        x1,
        a === undefined ? AXIS_HEIGHT : y(a),
        x2,
        y(b),
        type === 'fork' || taken === Infinity,
      );
    }
    pen.globalAlpha = 1;
  }

  #drawUntil(scene: Scene): void {
    if (scene.until === null) return;
    this.#pen.fillStyle = this.#ink.text;
    this.#pen.fillRect(this.#x(scene, scene.until), 0, 1, this.#height);
  }
}

/** `read src/db.ts` → `read db.ts`: where space is short, the end of a path says more. */
function deedOf({ name, said }: Bar): string {
  return /^[\w.~-]*(\/[\w.~@ -]+)+$/.test(said)
    ? `${name} ${said.slice(said.lastIndexOf('/') + 1)}`
    : `${name} ${said}`.trim();
}
