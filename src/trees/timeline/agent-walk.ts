import type { RequestRecord } from '../../kernel/step.ts';
import type { Agent } from '../../records/agent/agent.ts';
import { type AgentState, isTerminal } from '../../records/agent/state.ts';
import type { Ask } from '../../records/conversation/ask.ts';
import type {
  AssistantContent,
  CallPart,
  PlacedMessage,
  UserContent,
} from '../../records/conversation/message.ts';
import { awaited, CallSpans } from './call-spans.ts';
import {
  type Awaited,
  GAP_MS,
  type Letter,
  type Span,
  type SpanKind,
  type SpanStatus,
  saidIn,
  type TurnSpan,
} from './span.ts';

/** Records of an agent in the ledger besides its messages. */
export interface AgentRecords {
  /** All requests of the agent, oldest first; those already processed are skipped. */
  readonly requests: readonly RequestRecord[];
  readonly asks: readonly Ask[];
  /** All mail ever addressed to the agent. */
  readonly mail: readonly Letter[];
}

export interface AgentSpans {
  /** Ordered by start. */
  readonly spans: readonly Span[];
  readonly turns: readonly TurnSpan[];
  /** Time at which each mail was read, by its id. */
  readonly read_at: ReadonlyMap<string, number>;
}

/**
 * Derives what one agent did when from its own messages, taken in order and page by page.
 *  S1. Every request record is in exactly one span.
 *  S2. Spans that are not calls overlap no other span; calls overlap only calls of the same message.
 *  S3. From the agent's creation to its end, gaps of `GAP_MS` or longer are spans, except between the end of an answer and its commit.
 */
export class AgentWalk {
  readonly #runsBeside: (name: string) => boolean;
  readonly #spans: Span[] = [];
  readonly #turns: TurnSpan[] = [];
  readonly #read_at = new Map<string, number>();
  /** Kind of the next rest: `queued` until a run gets its turn in the queue of runs, `idle` afterwards. */
  #rest: SpanKind;
  #phase: 'rest' | 'asking' | 'calls' = 'rest';
  #since: number;
  #seq = 0;
  #used = 0;
  #calls: CallSpans | null = null;

  constructor(agent: Pick<Agent, 'created_at' | 'origin'>, runsBeside: (name: string) => boolean) {
    this.#since = agent.created_at;
    this.#rest = ['session', 'delegate', 'cron'].includes(agent.origin) ? 'queued' : 'idle';
    this.#runsBeside = runsBeside;
  }

  /** The newest message that was taken. */
  get seq(): number {
    return this.#seq;
  }

  take(messages: readonly PlacedMessage[], records: AgentRecords): void {
    const letters = Map.groupBy(records.mail, ({ consumed_seq }) => consumed_seq);
    for (const message of messages) {
      this.#seq = message.seq;
      const mail = letters.get(message.seq) ?? [];
      for (const { id } of mail) this.#read_at.set(id, message.at);
      this.#takeOne(message, records, mail);
    }
  }

  /** The spans as of now. */
  spans(agent: Agent, { requests, asks }: AgentRecords): AgentSpans {
    const end = agent.ended_at === null ? null : Math.max(this.#since, agent.ended_at);
    const left = requests.slice(this.#used).map((record) => this.#unseen(record));
    const spans = [...this.#spans, ...left, ...this.#going(agent.state, asks, end)].sort(
      (a, b) => a.start - b.start,
    );
    const turn = this.#turns.at(-1);
    const over = end ?? (agent.state.type === 'idle' || agent.state.type === 'errored' ? this.#since : null);
    const turns =
      turn?.end === null && over !== null ? this.#turns.with(-1, { ...turn, end: over }) : [...this.#turns];
    return { spans, turns, read_at: this.#read_at };
  }

  #takeOne(message: PlacedMessage, records: AgentRecords, mail: readonly Letter[]): void {
    // Never goes back: machines with different clocks may have led the agent.
    const at = Math.max(this.#since, message.at);
    switch (message.kind) {
      case 'user':
        return this.#takeUser(message.content, at, mail);
      case 'assistant':
        return this.#takeAnswer(message.content, at, records.requests);
      case 'result': {
        if (this.#calls === null) return;
        this.#spans.push(...this.#calls.settle(message, at, records.asks, mail));
        if (this.#calls.isSettled) this.#enter('asking', at);
        return;
      }
      case 'event':
        if (message.content.event === 'retried') this.#begin(at);
        else if (message.content.event === 'error') this.#stop('error', at, records);
        else if (message.content.event === 'killed') this.#stop('cancelled', at, records);
        return;
      case 'capture':
        return;
    }
  }

  #takeUser({ facts }: UserContent, at: number, mail: readonly Letter[]): void {
    if (this.#calls !== null) return;
    if (this.#phase === 'asking' && facts?.fan_in !== undefined) {
      const ids = facts.fan_in.map(({ agent_id }) => agent_id);
      this.#spans.push(this.#plain('waiting', this.#since, at, awaited(ids, mail)));
      return this.#enter('asking', at);
    }
    this.#begin(at, awaited([], mail));
  }

  /** Begins a turn, or continues the last one if less than `GAP_MS` has passed. */
  #begin(at: number, from: readonly Awaited[] = []): void {
    const rested = at - this.#since >= GAP_MS;
    if (rested) {
      this.#endTurn();
      this.#spans.push(this.#plain(this.#rest, this.#since, at, from));
    }
    const last = this.#turns.at(-1);
    if (last === undefined || (last.end !== null && rested))
      this.#turns.push({ start: at, end: null, seq: this.#seq });
    else if (last.end !== null) this.#turns[this.#turns.length - 1] = { ...last, end: null };
    this.#rest = 'idle';
    // Keeps the start of a short rest, which may reach `GAP_MS` together with a short queue.
    this.#enter('asking', rested ? at : this.#since);
  }

  #takeAnswer(
    { model, parts, finish }: AssistantContent,
    at: number,
    requests: readonly RequestRecord[],
  ): void {
    if (this.#phase === 'rest')
      this.#begin(Math.min(at, Math.max(this.#since, requests[this.#used]?.started_at ?? at)));
    const record = this.#pull(at, requests);
    const status = finish === 'refused' ? 'error' : finish === 'interrupted' ? 'interrupted' : 'ok';
    const said = parts.find(({ type }) => type === 'text');
    this.#answered(record, model, status, at, said?.type === 'text' ? saidIn(said.text) : '');
    const calls = parts.filter((part): part is CallPart => part.type === 'call');
    this.#enter(calls.length === 0 ? 'rest' : 'calls', at);
    if (calls.length === 0) this.#endTurn();
    else this.#calls = new CallSpans(this.#seq, at, calls, this.#runsBeside);
  }

  /** Ends the turn, which has failed or whose agent was killed. */
  #stop(status: 'error' | 'cancelled', at: number, { asks, requests }: AgentRecords): void {
    if (this.#calls !== null) this.#spans.push(...this.#calls.cut(at, asks));
    else if (this.#phase === 'asking') {
      const record = this.#pull(at, requests);
      if (record !== null || at > this.#since) this.#answered(record, '', status, at);
    } else if (at - this.#since >= GAP_MS) this.#spans.push(this.#plain(this.#rest, this.#since, at));
    this.#enter('rest', at);
    this.#endTurn();
  }

  /** Takes the record of the request that ended at `at`; unused ones before it were attempts without an answer. */
  #pull(at: number, requests: readonly RequestRecord[]): RequestRecord | null {
    let found: RequestRecord | null = null;
    for (; this.#used < requests.length; this.#used += 1) {
      const next = requests[this.#used] as RequestRecord;
      if (next.started_at > at || (found !== null && next.started_at === at)) break;
      if (found !== null) this.#spans.push(this.#unseen(found));
      found = next;
    }
    return found;
  }

  /** Adds a request that has ended, with a `queued` span before it if it began late. */
  #answered(record: RequestRecord | null, model: string, status: SpanStatus, at: number, said = ''): void {
    const start = Math.min(at, Math.max(this.#since, record?.started_at ?? this.#since));
    const end = record === null ? at : Math.min(at, start + record.duration_ms);
    if (start - this.#since >= GAP_MS) this.#spans.push(this.#plain('queued', this.#since, start));
    this.#spans.push({ ...this.#request(record, model, status, start, end), said });
  }

  #enter(phase: 'rest' | 'asking' | 'calls', at: number): void {
    this.#phase = phase;
    this.#since = at;
    if (phase !== 'calls') this.#calls = null;
  }

  #endTurn(): void {
    const last = this.#turns.at(-1);
    if (last?.end === null)
      this.#turns[this.#turns.length - 1] = { ...last, end: Math.max(last.start, this.#since) };
  }

  /** Spans of what the agent does now, or of its rest before an end that no message tells of. */
  #going(state: AgentState, asks: readonly Ask[], end: number | null): Span[] {
    const since = this.#since;
    if (isTerminal(state.type))
      return end !== null && end - since >= GAP_MS ? [this.#plain(this.#rest, since, end)] : [];
    switch (state.type) {
      case 'requesting':
        if (state.paused !== undefined)
          return [{ ...this.#plain('waiting', since, null), name: state.paused.text }];
        return [{ ...this.#request(null, '', 'open', since, since), end: null }];
      case 'executing': {
        const ids = new Set(state.running.map(({ call }) => call.id));
        const waits = state.running.flatMap(({ call, wait, child }) => {
          if (wait === undefined && child === undefined) return [];
          return [[call.id, child === undefined ? (wait?.from ?? []) : [child]] as const];
        });
        return this.#calls?.open(ids, new Map(waits), asks) ?? [];
      }
      case 'awaiting':
      case 'cancelling':
        return [this.#plain('waiting', since, null, awaited(state.spawned.map(({ agent_id }) => agent_id)))];
      case 'waiting': {
        const began = Math.max(since, state.since);
        const rest = began - since >= GAP_MS ? [this.#plain('idle', since, began)] : [];
        return [...rest, this.#plain('waiting', began, null, awaited(state.wait.from ?? []))];
      }
      default:
        return [this.#plain(this.#rest, since, null)];
    }
  }

  #plain(kind: SpanKind, start: number, end: number | null, from: readonly Awaited[] = []): Span {
    const status = end === null ? 'open' : 'ok';
    const seq = end === null ? null : this.#seq;
    return { kind, name: '', said: '', status, start, end, seq, call_id: null, request: null, from };
  }

  #request(
    request: RequestRecord | null,
    model: string,
    status: SpanStatus,
    start: number,
    end: number,
  ): Span {
    const name = request?.model ?? model;
    const none = { said: '', seq: this.#seq, call_id: null, from: [] };
    return { kind: 'request', name, status, start, end, request, ...none };
  }

  /** Span of a request whose answer is not in the conversation. */
  #unseen(record: RequestRecord): Span {
    const start = Math.max(this.#since, record.started_at);
    return { ...this.#request(record, '', 'error', start, start), seq: null };
  }
}
