import type { Ask } from '../../records/conversation/ask.ts';
import type { CallPart, PlacedMessage } from '../../records/conversation/message.ts';
import { parsedObject } from '../../records/text/json-text.ts';
import { type Awaited, type Letter, type Span, type SpanStatus, saidIn } from './span.ts';

/** Tools whose calls wait for other agents. */
const WAITING_TOOLS: ReadonlySet<string> = new Set(['wait', 'subagent_spawn', 'subagent_delegate', 'next']);

type Result = Extract<PlacedMessage, { kind: 'result' }>;

interface OpenCall {
  readonly part: CallPart;
  readonly said: string;
  readonly end: number | null;
}

/** Calls of one assistant message; when each began follows from the order in which the kernel runs them (`kernel/transition/calls.ts`). */
export class CallSpans {
  readonly #seq: number;
  readonly #at: number;
  readonly #runsBeside: (name: string) => boolean;
  readonly #calls: OpenCall[];

  constructor(seq: number, at: number, parts: readonly CallPart[], runsBeside: (name: string) => boolean) {
    this.#seq = seq;
    this.#at = at;
    this.#runsBeside = runsBeside;
    this.#calls = parts.map((part) => ({ part, said: subjectOf(part), end: null }));
  }

  get isSettled(): boolean {
    return this.#calls.every(({ end }) => end !== null);
  }

  /** Spans of the call that this result settles. `mail` is the mail that was read with it. */
  settle(result: Result, at: number, asks: readonly Ask[], mail: readonly Letter[]): Span[] {
    const { call_id, status } = result.content;
    const index = this.#calls.findIndex(({ part, end }) => part.id === call_id && end === null);
    const call = this.#calls[index];
    if (call === undefined) return [];
    const start = this.#startOf(index);
    this.#calls[index] = { ...call, end: at };
    const waits = WAITING_TOOLS.has(call.part.name) || mail.some(({ kind }) => kind === 'outcome');
    if (waits) {
      const { rows = [], cut } = result.content.facts?.waited ?? {};
      const ids = rows.map(({ agent_id }) => agent_id);
      const end = cut === 'timeout' ? cut : status;
      return [this.#span(call, 'waiting', start, at, end, awaited(ids, mail))];
    }
    const ask = askOf(asks, call_id, start, at);
    if (ask === undefined) return [this.#span(call, 'tool', start, at, status)];
    const answered = Math.min(at, Math.max(start, ask.answered_at ?? at));
    const approval = this.#span(call, 'approval', start, answered, ask.verdict === 'allow' ? 'ok' : status);
    return ask.verdict === 'allow' ? [approval, this.#span(call, 'tool', answered, at, status)] : [approval];
  }

  /** Spans of the calls that are running (`ids`). `waits` has the agents that a call waits for, by call id. */
  open(
    ids: ReadonlySet<string>,
    waits: ReadonlyMap<string, readonly string[]>,
    asks: readonly Ask[],
  ): Span[] {
    return this.#calls.flatMap((call, index) => {
      const { id } = call.part;
      if (call.end !== null || !ids.has(id)) return [];
      const start = this.#startOf(index);
      const from = waits.get(id);
      if (from !== undefined) return [this.#span(call, 'waiting', start, null, 'open', awaited(from))];
      const ask = askOf(asks, id, start, Number.POSITIVE_INFINITY);
      if (ask === undefined) return [this.#span(call, 'tool', start, null, 'open')];
      if (ask.answered_at === null) return [this.#span(call, 'approval', start, null, 'open')];
      const answered = Math.max(start, ask.answered_at);
      return [
        this.#span(call, 'approval', start, answered, ask.verdict === 'allow' ? 'ok' : 'denied'),
        this.#span(call, 'tool', answered, null, 'open'),
      ];
    });
  }

  /** Ends every call that has begun, because the turn failed or the agent was killed. */
  cut(at: number, asks: readonly Ask[]): Span[] {
    const unsettled = this.#calls.filter(({ end }) => end === null).map(({ part }) => part);
    const barrier = unsettled.findIndex(({ name }) => !this.#runsBeside(name));
    const begun = barrier === -1 ? unsettled : unsettled.slice(0, Math.max(1, barrier));
    const waits = new Map(begun.filter(({ name }) => WAITING_TOOLS.has(name)).map(({ id }) => [id, []]));
    return this.open(new Set(begun.map(({ id }) => id)), waits, asks).map((span) =>
      span.end === null ? { ...span, end: Math.max(span.start, at), status: 'cancelled' as const } : span,
    );
  }

  /** Start of a call: if it runs alone, when all calls before it have ended; otherwise, when those before it that run alone have ended. */
  #startOf(index: number): number {
    const call = this.#calls[index] as OpenCall;
    const alone = !this.#runsBeside(call.part.name);
    return this.#calls
      .slice(0, index)
      .filter(({ part }) => alone || !this.#runsBeside(part.name))
      .reduce((start, { end }) => Math.max(start, end ?? start), this.#at);
  }

  #span(
    { part, said }: OpenCall,
    kind: Span['kind'],
    start: number,
    end: number | null,
    status: SpanStatus,
    from: readonly Awaited[] = [],
  ): Span {
    return {
      kind,
      name: part.name,
      said,
      status,
      start,
      end,
      seq: this.#seq,
      call_id: part.id,
      request: null,
      from,
    };
  }
}

/** The first text among the arguments of a call: a path, a command, a prompt. */
function subjectOf({ read, input }: CallPart): string {
  const values = Object.values(parsedObject(read?.input ?? input) ?? {});
  return saidIn(values.find((value) => typeof value === 'string') ?? '');
}

function askOf(asks: readonly Ask[], call_id: string, from: number, to: number): Ask | undefined {
  return asks.findLast((ask) => ask.call_id === call_id && ask.asked_at >= from && ask.asked_at <= to);
}

/** These agents and the senders of the mail, each once. */
export function awaited(ids: readonly string[], mail: readonly Letter[] = []): Awaited[] {
  const sent = new Map<string, number | null>(ids.map((id) => [id, null]));
  for (const { from_id, sent_at } of mail) if (from_id !== null) sent.set(from_id, sent_at);
  return [...sent].map(([agent_id, sent_at]) => ({ agent_id, sent_at }));
}
