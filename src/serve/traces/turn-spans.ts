import { hash } from 'node:crypto';
import type { Agent } from '../../records/agent/agent.ts';
import { failureOf, isTerminal } from '../../records/agent/state.ts';
import type { Span, TurnSpan } from '../../trees/timeline/span.ts';
import type { AgentTimeline } from '../../trees/timeline/tree-timelines.ts';
import { ATTRIBUTE, providerAndModel } from './conventions.ts';
import type { Attributes, OtelSpan } from './otlp.ts';

/** Time after which an ended turn is final; what follows sooner may still belong to it. */
const SETTLED_MS = 2_000;
const LINKED = new Set(['letter', 'report', 'announce', 'outcome']);

export interface ExportedTurn {
  readonly agent_id: string;
  /** The message that began the turn. */
  readonly seq: number;
  readonly end: number;
  readonly spans: readonly OtelSpan[];
  /** Source of each span, by span id: the assistant message, and the call in it. */
  readonly sources: ReadonlyMap<string, { readonly seq: number; readonly call_id: string | null }>;
}

type Lanes = ReadonlyMap<string, AgentTimeline>;

/**
 * Makes spans of turns from the timelines of one tree's agents.
 *  T1. Ids are deterministic: hashes of the agent and of what the span stands for.
 *  T2. The span of a turn is a child of the parent's turn that created its agent, and in the trace of a turn of the root.
 *  T3. Each request and each call has one span; tokens and cost are only on requests. What a workflow's script asks for is no request.
 */
export class TurnSpans {
  readonly #lanes: Lanes;
  readonly #now: number;

  /** `now` is the ledger time at which the agents were read. */
  constructor(agents: readonly AgentTimeline[], now: number) {
    this.#lanes = new Map(agents.map((one) => [one.agent.id, one]));
    this.#now = now;
  }

  /** Whether the agent's last turn is open or not final yet. */
  isOpen({ agent, turns }: AgentTimeline): boolean {
    const last = turns.at(-1);
    return last !== undefined && !this.#hasEnded(agent, last, undefined);
  }

  /** Final turns of an agent that began with a message after `after`. */
  of(lane: AgentTimeline, after: number): ExportedTurn[] {
    return lane.turns.flatMap((turn, index) => {
      const next = lane.turns[index + 1];
      return turn.seq <= after || !this.#hasEnded(lane.agent, turn, next)
        ? []
        : [this.#one(lane, turn, next)];
    });
  }

  #hasEnded(agent: Agent, { end }: TurnSpan, next: TurnSpan | undefined): boolean {
    if (end === null) return false;
    return next !== undefined || isTerminal(agent.state.type) || this.#now - end >= SETTLED_MS;
  }

  #one(lane: AgentTimeline, turn: TurnSpan, next: TurnSpan | undefined): ExportedTurn {
    const { agent } = lane;
    const end = turn.end ?? turn.start;
    const own = lane.spans.filter(
      ({ start }) =>
        (start >= turn.start || turn === lane.turns[0]) && (next === undefined || start < next.start),
    );
    const trace_id = this.#traceOf(lane, turn);
    const parent = this.#parentOf(lane);
    const parent_id = turnId(agent.id, turn);
    const base = { trace_id, links: [] };
    const { workflow } = agent.config;
    const requests = workflow === undefined ? own.filter(({ kind }) => kind === 'request') : [];
    const operation = workflow === undefined ? 'invoke_agent' : 'invoke_workflow';
    const failed = requests.at(-1)?.status;
    const failure = next === undefined ? (failureOf(agent.state)?.kind ?? null) : errorOf(failed ?? 'ok');
    const common = commonOf(agent);
    const invoked: OtelSpan = {
      trace_id,
      span_id: parent_id,
      parent_id: parent === null ? null : turnId(parent.lane.agent.id, parent.turn),
      name: `${operation} ${workflow?.name ?? agent.name}`,
      kind: 'internal',
      start: turn.start,
      end,
      attributes: {
        [ATTRIBUTE.operation_name]: operation,
        ...common,
        ...(workflow === undefined ? modelOf(agent.config.model) : {}),
        [ATTRIBUTE.error_type]: failure ?? undefined,
      },
      links: this.#links(lane, turn, next),
      error: failure,
    };
    const within = [
      ...requests.map((span) => ({ span, of: chat(agent, span, end) })),
      ...calls(own).map((call) => ({ span: call.last, of: tool(agent, call, end) })),
    ];
    return {
      agent_id: agent.id,
      seq: turn.seq,
      end,
      spans: [
        invoked,
        ...within.map(({ span, of }) => ({ ...base, parent_id, ...of, error: errorOf(span.status) })),
      ],
      sources: new Map(
        within.flatMap(({ span: { seq, call_id }, of }) =>
          seq === null ? [] : [[of.span_id, { seq, call_id }]],
        ),
      ),
    };
  }

  /** T2. */
  #parentOf({ agent }: AgentTimeline): { readonly lane: AgentTimeline; readonly turn: TurnSpan } | null {
    const lane = agent.parent_id === null ? undefined : this.#lanes.get(agent.parent_id);
    if (lane === undefined) return null;
    const { forked_from, created_at, parent_id } = agent;
    const turn =
      forked_from !== null && forked_from.agent_id === parent_id
        ? lane.turns.findLast(({ seq }) => seq <= forked_from.seq)
        : lane.turns.findLast(({ start }) => start <= created_at);
    return turn === undefined ? null : { lane, turn };
  }

  #traceOf(lane: AgentTimeline, turn: TurnSpan): string {
    const parent = this.#parentOf(lane);
    return parent === null
      ? spanHash(32, 'trace', lane.agent.id, turn.seq)
      : this.#traceOf(parent.lane, parent.turn);
  }

  /** Links from the letters that the turn read to the turns in which they were written. */
  #links({ letters, read_at }: AgentTimeline, turn: TurnSpan, next: TurnSpan | undefined): OtelSpan['links'] {
    return letters.flatMap(({ id, kind, from_id, sent_at }) => {
      const at = read_at.get(id);
      const sender = from_id === null ? undefined : this.#lanes.get(from_id);
      if (at === undefined || at < turn.start || (next !== undefined && at >= next.start)) return [];
      const wrote = sender?.turns.findLast(({ start }) => start <= sent_at);
      if (sender === undefined || wrote === undefined || !LINKED.has(kind)) return [];
      const trace_id = this.#traceOf(sender, wrote);
      return [
        { trace_id, span_id: turnId(sender.agent.id, wrote), attributes: { [ATTRIBUTE.mail_kind]: kind } },
      ];
    });
  }
}

function chat(agent: Agent, span: Span, turn_end: number) {
  const { request, seq, start, end } = span;
  const named = modelOf(span.name === '' ? agent.config.model : span.name);
  const usage = request?.usage;
  return {
    span_id: spanHash(16, 'chat', agent.id, request?.started_at ?? `after ${seq}`),
    name: `chat ${named[ATTRIBUTE.request_model]}`,
    kind: 'client' as const,
    start,
    end: end ?? turn_end,
    attributes: {
      [ATTRIBUTE.operation_name]: 'chat',
      ...commonOf(agent),
      ...named,
      [ATTRIBUTE.input_tokens]: usage?.input,
      [ATTRIBUTE.output_tokens]: usage?.output,
      [ATTRIBUTE.cached_tokens]: usage?.cached,
      [ATTRIBUTE.reasoning_tokens]: usage?.reasoning,
      [ATTRIBUTE.cost_usd]: usage?.cost_usd ?? undefined,
      [ATTRIBUTE.error_type]: errorOf(span.status) ?? undefined,
    } as Attributes,
  };
}

/** First and last span of one call in the timeline: the wait for a person, if any, then the call itself. */
interface CallOfTurn {
  readonly first: Span;
  readonly last: Span;
}

function calls(spans: readonly Span[]): CallOfTurn[] {
  const byCall = Map.groupBy(
    spans.filter(({ call_id }) => call_id !== null),
    ({ seq, call_id }) => `${seq} ${call_id}`,
  );
  return [...byCall.values()].map((group) => ({ first: group[0] as Span, last: group.at(-1) as Span }));
}

function tool(agent: Agent, { first, last }: CallOfTurn, turn_end: number) {
  const asked_ms = first.kind === 'approval' ? (first.end ?? turn_end) - first.start : undefined;
  return {
    span_id: spanHash(16, 'call', agent.id, `${first.seq}`, first.call_id ?? ''),
    name: `execute_tool ${last.name}`,
    kind: 'internal' as const,
    start: first.start,
    end: last.end ?? turn_end,
    attributes: {
      [ATTRIBUTE.operation_name]: 'execute_tool',
      ...commonOf(agent),
      [ATTRIBUTE.tool_name]: last.name,
      [ATTRIBUTE.tool_call_id]: first.call_id ?? '',
      [ATTRIBUTE.approval_ms]: asked_ms,
      [ATTRIBUTE.error_type]: errorOf(last.status) ?? undefined,
    } as Attributes,
  };
}

function commonOf(agent: Agent): Attributes {
  return {
    [ATTRIBUTE.agent_id]: agent.id,
    [ATTRIBUTE.agent_name]: agent.name,
    [ATTRIBUTE.conversation_id]: agent.root_id,
    [ATTRIBUTE.workflow_name]: agent.config.workflow?.name,
    [ATTRIBUTE.workflow_phase]: agent.config.task?.workflow?.phase ?? undefined,
  };
}

function modelOf(text: string): Readonly<Record<string, string>> {
  const { provider, model } = providerAndModel(text);
  return { [ATTRIBUTE.provider_name]: provider, [ATTRIBUTE.request_model]: model };
}

function errorOf(status: Span['status']): string | null {
  return status === 'ok' || status === 'open' ? null : status;
}

function turnId(agent_id: string, { seq }: TurnSpan): string {
  return spanHash(16, 'turn', agent_id, seq);
}

/** T1. */
function spanHash(digits: number, ...parts: readonly (string | number)[]): string {
  return hash('sha256', parts.join('\n')).slice(0, digits);
}
