import type { Agent } from '../../records/agent/agent.ts';
import type { Span, SpanKind } from './span.ts';
import type { AgentTimeline } from './tree-timelines.ts';

/** One stretch of the critical path, which determined how long the tree took. */
export interface PathPart {
  readonly agent_id: string;
  readonly kind: SpanKind;
  readonly start: number;
  readonly end: number;
}

/** Agent that ended a wait, and the time at which it wrote or came to rest. */
export interface WaitEndedBy {
  readonly agent_id: string;
  readonly at: number;
}

/** Returns the agent that ended a wait or a rest, the last of several; null if a timeout, a person or an unknown agent ended it. */
export function endedBy(
  span: Span,
  lane: AgentTimeline,
  lanes: ReadonlyMap<string, AgentTimeline>,
): WaitEndedBy | null {
  if (span.end === null || span.status === 'timeout') return null;
  let last: WaitEndedBy | null = null;
  for (const { agent_id, sent_at } of span.from) {
    const other = lanes.get(agent_id);
    if (other === undefined || other.agent.id === lane.agent.id) continue;
    const at = sent_at ?? restedAt(other, span.end);
    if (at !== null && at <= span.end && (last === null || at > last.at)) last = { agent_id, at };
  }
  return last;
}

/** Time at which an agent last came to rest, up to `before` (inclusive). */
function restedAt({ turns, agent: { ended_at } }: AgentTimeline, before: number): number | null {
  if (ended_at !== null && ended_at <= before) return ended_at;
  const index = lastBefore(turns, (turn) => turn.end ?? Number.POSITIVE_INFINITY, before);
  return turns[index]?.end ?? null;
}

/** Index of the last item whose time is at most `limit`; -1 if there is none. Times must be ascending. */
function lastBefore<Item>(items: readonly Item[], timeOf: (item: Item) => number, limit: number): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (timeOf(items[middle] as Item) <= limit) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/**
 * Walks backwards from the root's last moment: follows what an agent did and, where it waited, what the agent did that ended the wait. Returns the parts
 * oldest first; adjacent ones of the same agent and kind are merged.
 */
export function criticalPath(
  root_id: string,
  lanes: ReadonlyMap<string, AgentTimeline>,
  now: number,
): PathPart[] {
  const parts: PathPart[] = [];
  const add = (agent_id: string, kind: SpanKind, start: number, end: number) => {
    if (end <= start) return;
    const newer = parts.at(-1);
    if (newer?.agent_id === agent_id && newer.kind === kind && newer.start <= end)
      parts[parts.length - 1] = { ...newer, start };
    else parts.push({ agent_id, kind, start, end });
  };
  let lane = lanes.get(root_id);
  let time = lane?.agent.ended_at ?? now;
  let left = [...lanes.values()].reduce((sum, { spans }) => sum + spans.length + 2, 0);
  while (lane !== undefined && left > 0) {
    left -= 1;
    const { id, parent_id, created_at }: Agent = lane.agent;
    const span = coveringOrLast(lane.spans, time);
    if (span === null) {
      add(id, 'queued', created_at, time);
      time = Math.min(time, created_at);
      lane = parent_id === null ? undefined : lanes.get(parent_id);
      continue;
    }
    const end = Math.min(time, span.end ?? time);
    add(id, 'queued', end, time);
    const cause = causeOf(span, lane, lanes, end);
    if (cause === null || cause.at <= span.start) {
      add(id, span.kind, span.start, end);
      time = span.start;
      continue;
    }
    add(id, span.kind, cause.at, end);
    time = Math.min(cause.at, end);
    lane = lanes.get(cause.agent_id);
  }
  return parts.reverse();
}

/** The span that covers the moment before `time`, or else the one that ended last before it. */
function coveringOrLast(spans: readonly Span[], time: number): Span | null {
  const newest = lastBefore(spans, ({ start }) => start, time - 1);
  let best: Span | null = null;
  let best_end = Number.NEGATIVE_INFINITY;
  for (let at = newest; at >= Math.max(0, newest - BESIDE_MAX); at -= 1) {
    const span = spans[at] as Span;
    const end = Math.min(span.end ?? time, time);
    if (end > best_end) {
      best = span;
      best_end = end;
    }
  }
  return best;
}

/** Maximum calls of one message that are compared. */
const BESIDE_MAX = 32;

/** Agent to follow at the end of a wait; for an open wait, one of the awaited agents that is working. */
function causeOf(
  span: Span,
  lane: AgentTimeline,
  lanes: ReadonlyMap<string, AgentTimeline>,
  time: number,
): WaitEndedBy | null {
  if (span.kind !== 'waiting' && span.kind !== 'idle') return null;
  if (span.end !== null) return endedBy(span, lane, lanes);
  const busy = span.from.find(
    ({ agent_id }) => agent_id !== lane.agent.id && lanes.get(agent_id)?.turns.at(-1)?.end === null,
  );
  return busy === undefined ? null : { agent_id: busy.agent_id, at: time };
}

export interface PathShare {
  readonly agent_id: string;
  /** Fraction of the whole path without rests, 0 to 1. */
  readonly share: number;
}

/** Share of each agent in the path, largest first. */
export function pathShares(parts: readonly PathPart[]): PathShare[] {
  const busy = parts.filter(({ kind }) => kind !== 'idle');
  const total = busy.reduce((sum, { start, end }) => sum + end - start, 0);
  const byAgent = Map.groupBy(busy, ({ agent_id }) => agent_id);
  return [...byAgent]
    .map(([agent_id, own]) => ({
      agent_id,
      share: own.reduce((sum, { start, end }) => sum + end - start, 0) / total,
    }))
    .sort((a, b) => b.share - a.share);
}
