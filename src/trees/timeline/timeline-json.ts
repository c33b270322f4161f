import type { z } from 'zod';
import { isoTime } from '../../documents/iso-time.ts';
import type {
  lane as laneShape,
  timeline as timelineShape,
} from '../../documents/shapes/timeline-document.ts';
import { isActive } from '../../records/agent/agent.ts';
import { keptIn } from '../../records/kept-in.ts';
import { outcomeOf } from '../../records/run/outcome.ts';
import { ledStatus } from '../../render/agent-status.ts';
import { Slices } from '../cpu-meter.ts';
import { criticalPath, endedBy, pathShares } from './critical-path.ts';
import { SPAN_KINDS, SPAN_STATUSES, type Span } from './span.ts';
import type { AgentTimeline, TreeTimeline } from './tree-timelines.ts';

type LaneDocument = z.infer<typeof laneShape>;
export type TimelineDocument = z.infer<typeof timelineShape>;

const MICRO = 1_000_000;

/**
 * Timeline as columns of numbers relative to the start of the tree. With `after`, only lanes of agents that have changed since that answer. `unled`: why no
 * process leads the tree, in which nobody works then.
 */
export async function timelineDocument(
  { agents: as_led, now, reader, revision, changed }: TreeTimeline,
  title: string,
  { after, unled }: { readonly after?: string | undefined; readonly unled?: string | undefined } = {},
): Promise<TimelineDocument> {
  const agents =
    unled === undefined ? as_led : as_led.map((one) => ({ ...one, spans: one.spans.map(rested) }));
  const [first] = agents;
  const root_id = first?.agent.root_id ?? '';
  const began = first?.agent.created_at ?? now;
  const numbers = new Map(agents.map(({ agent }, index) => [agent.id, index]));
  const lanes = new Map(agents.map((one) => [one.agent.id, one]));
  const names = new Names();
  const documents: LaneDocument[] = [];
  const [known_reader, known] = after?.split('-') ?? [];
  const seen = known_reader !== '' && known_reader === reader ? Number(known) : -1;
  const slices = new Slices();
  for (const one of agents) {
    // No row changes when a process dies.
    if ((changed.get(one.agent.id) ?? 0) <= seen && (unled === undefined || !isActive(one.agent))) continue;
    documents.push(laneDocument(one, { began, numbers, names, lanes, unled }));
    await slices.next();
  }
  await slices.next();
  const path = reader === '' ? [] : criticalPath(root_id, lanes, now);
  return {
    root_id,
    title,
    started_at: isoTime(began),
    now: now - began,
    after: reader === '' ? '' : `${reader}-${revision}`,
    ids: agents.map(({ agent }) => agent.id),
    lanes: documents,
    names: names.all,
    path: {
      agent: path.map(({ agent_id }) => numbers.get(agent_id) ?? 0),
      kind: path.map(({ kind }) => SPAN_KINDS.indexOf(kind)),
      start: path.map(({ start }) => start - began),
      length: path.map(({ start, end }) => end - start),
    },
    shares: pathShares(path).map(({ agent_id, share }) => ({ agent: numbers.get(agent_id) ?? 0, share })),
  };
}

interface Terms {
  readonly began: number;
  readonly numbers: ReadonlyMap<string, number>;
  readonly names: Names;
  readonly lanes: ReadonlyMap<string, AgentTimeline>;
  readonly unled: string | undefined;
}

/** What an agent would be doing is a rest while nobody leads it; waits for others, and for people, are what they are. */
function rested(span: Span): Span {
  const works = span.kind === 'request' || span.kind === 'tool' || span.kind === 'queued';
  return span.end === null && works ? { ...span, kind: 'idle', name: '', said: '', request: null } : span;
}

function laneDocument(one: AgentTimeline, { began, numbers, names, lanes, unled }: Terms): LaneDocument {
  const { agent, spans, letters, read_at } = one;
  const { workflow, task } = agent.config;
  const requests = spans.filter(({ kind }) => kind === 'request');
  const numberOf = (id: string | null) => (id === null ? -1 : (numbers.get(id) ?? -1));
  const waits = spans.flatMap((span, index) => {
    if (span.end === null)
      return span.from.map(({ agent_id }) => ({ index, by: numberOf(agent_id), at: -1 }));
    const ended = span.from.length === 0 ? null : endedBy(span, one, lanes);
    return ended === null ? [] : [{ index, by: numberOf(ended.agent_id), at: ended.at - began }];
  });
  let before = 0;
  return {
    agent: numberOf(agent.id),
    name: agent.name,
    parent: agent.parent_id === null ? null : numberOf(agent.parent_id),
    depth: agent.depth,
    origin: agent.origin,
    status: ledStatus(agent, unled !== undefined),
    ...outcomeOf(agent, unled),
    model: agent.config.model,
    thinking: agent.config.thinking,
    created: agent.created_at - began,
    ended: agent.ended_at === null ? null : agent.ended_at - began,
    workflow: workflow === undefined || workflow.ask !== undefined ? null : workflow.name,
    phase: task?.workflow?.phase ?? null,
    fork_seq: agent.forked_from?.agent_id === agent.parent_id ? (agent.forked_from?.seq ?? null) : null,
    tool_calls: agent.calls,
    tokens: agent.usage.input + agent.usage.output,
    cost_usd: agent.usage.cost_usd,
    spans: {
      kind: spans.map(({ kind }) => SPAN_KINDS.indexOf(kind)),
      name: spans.map(({ name }) => names.number(name)),
      said: spans.map(({ said }) => names.number(said)),
      status: spans.map(({ status }) => SPAN_STATUSES.indexOf(status)),
      start: spans.map(({ start }) => {
        const step = start - began - before;
        before = start - began;
        return step;
      }),
      length: spans.map(({ start, end }) => (end === null ? -1 : end - start)),
      seq: spans.map(({ seq }) => seq ?? -1),
    },
    requests: {
      input: requests.map(({ request }) => request?.usage.input ?? 0),
      cached: requests.map(({ request }) => request?.usage.cached ?? 0),
      output: requests.map(({ request }) => request?.usage.output ?? 0),
      cost: requests.map(({ request }) => Math.round((request?.usage.cost_usd ?? 0) * MICRO)),
    },
    waits: {
      span: waits.map(({ index }) => index),
      by: waits.map(({ by }) => by),
      at: waits.map(({ at }) => at),
    },
    mail: {
      number: letters.map(({ number }) => number),
      kind: letters.map(({ kind }) => names.number(kind)),
      from: letters.map(({ from_id }) => numberOf(from_id)),
      sent: letters.map(({ sent_at }) => sent_at - began),
      read: letters.map(({ id }) => {
        const at = read_at.get(id);
        return at === undefined ? -1 : at - began;
      }),
    },
  };
}

/** Table of repeated names, each stored once. */
class Names {
  readonly #numbers = new Map<string, number>();

  number(name: string): number {
    return keptIn(this.#numbers, name, () => this.#numbers.size);
  }

  get all(): string[] {
    return [...this.#numbers.keys()];
  }
}
