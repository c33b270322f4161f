import type { z } from 'zod';
import type {
  lane as laneShape,
  timeline as timelineShape,
} from '../../../src/documents/shapes/timeline-document.ts';
import { shownWord } from '../../../src/records/run/outcome.ts';

import { UUID } from '../../data/texts.ts';

/** The server's timeline in compact columns (docs/json.md, `coppice/timeline/v1`), which `unpacked` turns into a `Timeline`. */
export type TimelineDocument = z.infer<typeof timelineShape>;
type LaneDocument = z.infer<typeof laneShape>;

export const KINDS = ['request', 'tool', 'waiting', 'approval', 'queued', 'idle'] as const;
export type Kind = (typeof KINDS)[number];
export const STATUSES = ['open', 'ok', 'error', 'denied', 'interrupted', 'cancelled', 'timeout'] as const;

/** Times are milliseconds since the tree began; `end` is infinite while the bar is open. */
export interface Bar {
  readonly kind: Kind;
  readonly name: string;
  /** First words of an answer, or what a call was about; may be empty. */
  readonly said: string;
  readonly status: (typeof STATUSES)[number];
  readonly start: number;
  readonly end: number;
  readonly seq: number | null;
  /** Only for requests; otherwise 0. */
  readonly input: number;
  readonly cached: number;
  readonly output: number;
  readonly cost_usd: number;
}

export interface Letter {
  readonly number: number;
  readonly kind: string;
  /** Index of a lane; -1: a person. */
  readonly from: number;
  readonly sent: number;
  /** Infinite while unread. */
  readonly read: number;
}

export interface Wait {
  readonly bar: number;
  readonly by: number;
  /** Null while the wait is open. */
  readonly at: number | null;
}

export interface Lane {
  readonly index: number;
  readonly id: string;
  readonly about: Omit<LaneDocument, 'spans' | 'requests' | 'waits' | 'mail'>;
  /** Ordered by start. */
  readonly bars: readonly Bar[];
  readonly waits: readonly Wait[];
  readonly letters: readonly Letter[];
}

export interface Part {
  readonly lane: number;
  readonly kind: Kind;
  readonly start: number;
  readonly end: number;
}

export interface Timeline {
  readonly root_id: string;
  readonly title: string;
  readonly began: number;
  readonly now: number;
  /** Cursor for the next request; empty until the bars are loaded. */
  readonly after: string;
  /** Ordered by index, oldest agent first. */
  readonly lanes: readonly Lane[];
  readonly path: readonly Part[];
  readonly shares: TimelineDocument['shares'];
  /** Whether any agent works or waits. */
  readonly lives: boolean;
  /** End of the last activity; the present while an agent works or waits. */
  readonly end: number;
}

/** Merges an answer of the server with the lanes of `before` that have not changed. */
export function unpacked(answer: TimelineDocument, before: Timeline | null): Timeline {
  const known = new Map(before?.lanes.map((lane) => [lane.id, lane]));
  const called = new Map(before?.lanes.map(({ id, about }) => [id, about.name]));
  for (const { agent, name } of answer.lanes) called.set(answer.ids[agent] ?? '', name);
  const names = answer.names.map((text) => text.replace(UUID, (id, short) => called.get(id) ?? short));
  for (const lane of answer.lanes) {
    const id = answer.ids[lane.agent] ?? '';
    known.set(id, laneOf(lane, id, names));
  }
  const lanes = answer.ids.flatMap((id) => known.get(id) ?? []);
  const { agent, kind, start, length } = answer.path;
  const lives = lanes.some(({ bars }) =>
    bars.some(({ end, kind: one }) => end === Infinity && one !== 'idle'),
  );
  const last = lanes.reduce(
    (end, { about, bars }) => bars.reduce(lateOf, Math.max(end, about.created, about.ended ?? 0)),
    1,
  );
  return {
    root_id: answer.root_id,
    title: answer.title,
    began: Date.parse(answer.started_at),
    now: answer.now,
    after: answer.after,
    lanes,
    path: agent.map((lane, index) => {
      const from = start[index] ?? 0;
      return {
        lane,
        kind: KINDS[kind[index] ?? 0] ?? 'request',
        start: from,
        end: from + (length[index] ?? 0),
      };
    }),
    shares: answer.shares,
    lives,
    end: lives ? Math.max(last, answer.now) : last,
  };
}

/** Timeline `later` milliseconds on, assuming that nothing has happened meanwhile. */
export function at(timeline: Timeline, later: number): Timeline {
  const now = timeline.now + later;
  const end = timeline.lives ? Math.max(timeline.end, now) : timeline.end;
  const path = timeline.path.map((part) => (part.end === timeline.now ? { ...part, end: now } : part));
  return { ...timeline, now, end, path };
}

/** Later of `late` and the end of the bar. Idle and open bars count by their start, so that a final rest takes no room. */
function lateOf(late: number, { kind, start, end }: Bar): number {
  return Math.max(late, kind === 'idle' || end === Infinity ? start : end);
}

function laneOf(
  { spans, requests, waits, mail, ...about }: LaneDocument,
  id: string,
  names: readonly string[],
): Lane {
  let start = 0;
  let request = -1;
  const bars = spans.kind.map((number, index): Bar => {
    const kind = KINDS[number] ?? 'tool';
    start += spans.start[index] ?? 0;
    const length = spans.length[index] ?? -1;
    if (kind === 'request') request += 1;
    const used = (column: readonly number[]) => (kind === 'request' ? (column[request] ?? 0) : 0);
    const seq = spans.seq[index] ?? -1;
    return {
      kind,
      name: names[spans.name[index] ?? -1] ?? '',
      said: names[spans.said?.[index] ?? -1] ?? '',
      status: STATUSES[spans.status[index] ?? 0] ?? 'ok',
      start,
      end: length < 0 ? Infinity : start + length,
      seq: seq < 0 ? null : seq,
      input: used(requests.input),
      cached: used(requests.cached),
      output: used(requests.output),
      cost_usd: used(requests.cost) / 1_000_000,
    };
  });
  return {
    index: about.agent,
    id,
    about,
    bars,
    waits: waits.span.map((bar, index) => {
      const at = waits.at[index] ?? -1;
      return { bar, by: waits.by[index] ?? -1, at: at < 0 ? null : at };
    }),
    letters: mail.number.map((number, index) => {
      const read = mail.read[index] ?? -1;
      return {
        number,
        kind: names[mail.kind[index] ?? -1] ?? '',
        from: mail.from[index] ?? -1,
        sent: mail.sent[index] ?? 0,
        read: read < 0 ? Infinity : read,
      };
    }),
  };
}

/** Index of the bar at that time; of several calls that ran together, the one that began last. */
export function barAt(lane: Lane, time: number): number | null {
  for (let index = firstAfter(lane.bars, time) - 1; index >= 0; index -= 1) {
    const bar = lane.bars[index] as Bar;
    if (bar.end >= time) return index;
    if (bar.kind !== 'tool' && bar.kind !== 'approval' && bar.kind !== 'waiting') return null;
  }
  return null;
}

/** Index of the first bar that begins after that time. */
export function firstAfter(bars: readonly Bar[], time: number): number {
  let low = 0;
  let high = bars.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((bars[middle] as Bar).start <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** How long an agent took, from its creation to the end of the last thing that it did. */
export function lastedOf({ about, bars }: Lane, end: number): number {
  const last = bars.reduce(
    (late, bar) => (bar.kind === 'idle' ? late : Math.max(late, Math.min(bar.end, end))),
    0,
  );
  return Math.max(0, last - about.created);
}

/** Label that numbers a bar among the agent's bars of the same name: `search (3/40)`; for several in a row: `search (3–7/40)`. */
export function repeatOf({ bars }: Lane, index: number, calls = 1): string {
  const bar = bars[index] as Bar;
  const alike = bars.filter(({ kind, name }) => kind === bar.kind && name === bar.name);
  const word = shortName(bar.name) || bar.kind;
  const first = alike.indexOf(bar) + 1;
  if (alike.length === 1) return word;
  return `${word} (${first}${calls > 1 ? `–${first + calls - 1}` : ''}/${alike.length})`;
}

/** Status of an agent at that time; null if the agent did not exist yet. */
function statusThen(lane: Lane, time: number): string | null {
  const { created, ended, status } = lane.about;
  if (time < created) return null;
  if (ended !== null && time >= ended) return status;
  const bar = lane.bars[barAt(lane, time) ?? -1];
  if (bar === undefined) return 'running';
  if (bar.kind === 'waiting' || bar.kind === 'approval') return 'waiting';
  return bar.kind === 'idle' || bar.kind === 'queued' ? bar.kind : 'running';
}

/** Word for an agent at that time, or now: its status, with its outcome where the status would hide it; null if it did not exist yet. */
export function wordThen(lane: Lane, until: number | null): string | null {
  if (until !== null) return statusThen(lane, until);
  return shownWord(lane.about.status, lane.about.outcome, lane.about.outcome_text);
}

/** `anthropic/claude-sonnet` → `claude-sonnet`. */
export function shortName(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}
