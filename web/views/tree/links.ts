import type { Lane, Timeline } from './lanes.ts';

/** A connection from one agent to another. */
export interface Link {
  readonly type: 'fork' | 'letter' | 'result' | 'wait';
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
