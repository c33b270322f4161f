import type { Why } from '../past/why.tsx';
import type { Lane, Timeline } from './lanes.ts';

/** A connection from one agent to another. */
export interface Link {
  readonly type: 'fork' | 'letter' | 'result' | 'wait' | 'why';
  /** Indexes of lanes; -1: a person. */
  readonly from: number;
  readonly to: number;
  readonly sent: number;
  /** Time at which it was read or took effect; infinite while unread. */
  readonly taken: number;
}

export function linksOf(timeline: Timeline): Link[] {
  return timeline.lanes.flatMap((lane) => linksTo(lane));
}

function linksTo(lane: Lane): Link[] {
  const { index, about } = lane;
  const links: Link[] = [];
  if (about.parent !== null)
    links.push({ type: 'fork', from: about.parent, to: index, sent: about.created, taken: about.created });
  for (const { kind, from, sent, read } of lane.letters) {
    if (kind === 'control') continue;
    const type = kind === 'outcome' || kind === 'announce' ? 'result' : 'letter';
    links.push({ type, from, to: index, sent, taken: read });
  }
  for (const { bar, by, at } of lane.waits) {
    const end = lane.bars[bar]?.end ?? Infinity;
    // A letter or result that ended the wait has its own arrow.
    if (at === null || links.some(({ from, sent }) => from === by && sent === at)) continue;
    links.push({ type: 'wait', from: by, to: index, sent: at, taken: end });
  }
  return links;
}

/** The arrows that led to a message, back to the prompts. */
export function whyLinks({ lanes, began }: Timeline, { steps }: Why): Link[] {
  const indexes = new Map(lanes.map(({ id, index }) => [id, index]));
  const laneOf = (agent_id: string | null) => indexes.get(agent_id ?? '') ?? -1;
  return steps.flatMap(({ led_to, agent_id, at }) => {
    const next = steps[led_to ?? -1];
    if (next === undefined || laneOf(next.agent_id) < 0) return [];
    const [sent, taken] = [Date.parse(at) - began, Date.parse(next.at) - began];
    return [{ type: 'why', from: laneOf(agent_id), to: laneOf(next.agent_id), sent, taken }];
  });
}
