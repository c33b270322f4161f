import type { ChildOutcome } from '../../records/agent/state.ts';
import { PERSON } from '../../records/conversation/facts/wait-row.ts';
import type { WorkflowWait } from '../../records/conversation/facts/workflow-wait.ts';
import type { CallPart, ResultContent } from '../../records/conversation/message.ts';
import type { PromptMessage } from '../../records/conversation/prompt-message.ts';
import { jsonIn, parsedObject } from '../../records/text/json-text.ts';
import { REUSED } from '../../records/workflow/earlier-call.ts';
import { retriedIn } from '../../records/workflow/workflow-terms.ts';
import {
  CALL_KINDS,
  type CallKind,
  type RecordedCall,
  type ScriptBudget,
  type ScriptEntry,
} from './script-step.ts';

const ID = /^call-(\d+)$/;
const RETRY_ID = /^retry-\d+-(\d+)$/;

/** Id of the ledger's call for a call of the script. */
export function idOfCall(number: number): string {
  return `call-${number}`;
}

/** What happened to an agent that a script had started. */
export interface AgentEnd {
  readonly call: number;
  readonly label: string;
  readonly type: 'value' | 'failed' | 'skipped';
  readonly reason: string;
  /** What the call got, if it succeeded. */
  readonly value?: unknown;
}

interface Started {
  readonly call: number;
  readonly label: string;
  readonly checked: boolean;
}

/** Reads from a run's conversation what its script has asked for and got, each message once, in the order of the ledger. */
export class RecordedRun {
  readonly #total: number | null;
  #read = 0;
  #now: number;
  #spent = 0;
  #count = 0;
  /** What a call would have got, had nobody wanted its agent to be run again. */
  readonly #held = new Map<number, ChildOutcome>();
  readonly #inputs = new Map<number, Record<string, unknown>>();
  /** By the id of the agent that carries out the call. */
  readonly #agents = new Map<string, Started>();
  /** The agents that were started, by their calls. */
  readonly started = new Map<number, string>();
  /** When the timers that are running end. */
  readonly timers = new Map<number, number>();
  readonly ends: AgentEnd[] = [];
  /** How many results had been given to the script before it answered last; -1 before its first answer. */
  answered_after = -1;
  /** Highest number of a call that the ledger has. */
  last_call = 0;
  /** What was told with results since the script answered last. */
  notes: string[] = [];
  /** Agents that a person wants to be run again, since then. */
  #retries = new Set<string>();

  constructor(started_at: number, total: number | null) {
    this.#now = started_at;
    this.#total = total;
  }

  /** Ids of agents that work for the script. */
  get open(): readonly string[] {
    return [...this.#agents.keys()];
  }

  get budget(): ScriptBudget {
    return { total: this.#total, spent: this.#spent };
  }

  next(messages: readonly PromptMessage[]): {
    readonly calls: readonly RecordedCall[];
    readonly entries: readonly ScriptEntry[];
  } {
    const calls: RecordedCall[] = [];
    const entries: ScriptEntry[] = [];
    const add: Add = (entry) => {
      this.#count += 1;
      entries.push({ ...entry, now: this.#now, budget: this.budget });
    };
    for (; this.#read < messages.length; this.#read += 1) {
      const message = messages[this.#read] as PromptMessage;
      if (message.role === 'assistant') {
        this.answered_after = this.#count;
        [this.notes, this.#retries] = [[], new Set()];
        for (const part of message.parts) if (part.type === 'call') this.#made(part, calls);
      }
      if (message.role === 'user' && message.arrived !== undefined) this.#waited(message.arrived, add);
      if (message.role !== 'results') continue;
      for (const { call_id, name, status, output } of asBefore(message.results)) {
        if (name === 'next') {
          if (status === 'ok') this.#waited(JSON.parse(output) as WorkflowWait, add);
          continue;
        }
        // The script has ended: it takes no more results.
        if (name === 'skip') this.#agents.clear();
        const retried = RETRY_ID.exec(call_id)?.[1];
        if (retried !== undefined) {
          this.#retried(Number(retried), status === 'ok' ? parsedObject(output) : null, add);
          continue;
        }
        const number = numberOf(call_id);
        if (number === null) continue;
        if (status !== 'ok') {
          const reason = refusalOf(output);
          this.ends.push({ call: number, label: this.#labelOf(number), type: 'failed', reason });
          add({ call: number, type: 'failed', reason });
        } else this.#settled(number, name, parsedObject(output) ?? {}, add);
      }
    }
    return { calls, entries };
  }

  #made({ id, name, input }: { id: string; name: string; input: string }, calls: RecordedCall[]): void {
    const number = numberOf(id);
    if (number === null || !CALL_KINDS.includes(name as CallKind)) return;
    const given = parsedObject(input) ?? {};
    this.#inputs.set(number, given);
    this.last_call = Math.max(this.last_call, number);
    const { key = '', prompt = '' } = given as { key?: string; prompt?: string };
    calls.push({ number, kind: name as CallKind, key, prompt });
  }

  /** The calls that run an agent again, as the script made them. */
  get retries(): readonly CallPart[] {
    return [...this.#retries].flatMap((instead_of): CallPart[] => {
      const call = this.#agents.get(instead_of)?.call;
      if (call === undefined) return [];
      const input = JSON.stringify({ ...this.#inputs.get(call), instead_of });
      return [{ type: 'call', id: `retry-${this.answered_after}-${call}`, name: 'retry', input }];
    });
  }

  /** The new agent works for the call; without one, it gets what it would have got. */
  #retried(call: number, output: Record<string, unknown> | null, add: Add): void {
    const [before, started] = [...this.#agents].find(([, one]) => one.call === call) ?? [];
    const held = this.#held.get(call);
    this.#held.delete(call);
    if (before === undefined || started === undefined) return;
    if (typeof output?.agent_id !== 'string') {
      if (held !== undefined) this.#ended(before, started, held, add);
      return;
    }
    this.#agents.delete(before);
    this.#agents.set(output.agent_id, started);
    this.started.set(call, output.agent_id);
  }

  #labelOf(number: number): string {
    const { label, prompt } = (this.#inputs.get(number) ?? {}) as { label?: string; prompt?: string };
    return label ?? (prompt ?? '').slice(0, 60);
  }

  #settled(number: number, name: string, output: Record<string, unknown>, add: Add): void {
    if (typeof output.now === 'number') this.#now = Math.max(this.#now, output.now);
    if (typeof output.note === 'string' && !this.notes.includes(output.note)) this.notes.push(output.note);
    if (typeof output.agent_id === 'string') {
      const checked = this.checks(number, name);
      this.#agents.set(output.agent_id, { call: number, label: this.#labelOf(number), checked });
      this.started.set(number, output.agent_id);
    } else if (typeof output.reused === 'string') {
      const { value } = output;
      this.ends.push({ call: number, label: this.#labelOf(number), type: 'value', reason: '', value });
      add({ call: number, type: 'value', value });
    } else if (typeof output.until === 'number') this.timers.set(number, output.until);
    else add({ call: number, type: 'value', value: null });
  }

  /** Whether the call's result is a JSON value. */
  checks(number: number, kind: string): boolean {
    return kind !== 'agent' || this.#inputs.get(number)?.schema !== undefined;
  }

  #waited({ now, spent = this.#spent, arrived }: WorkflowWait, add: Add): void {
    this.#now = Math.max(this.#now, now);
    this.#spent = spent;
    const due = [...this.timers].filter(([, until]) => until <= now);
    for (const [call] of due.sort(([a, at], [b, bt]) => at - bt || a - b)) {
      this.timers.delete(call);
      add({ call, type: 'value', value: null });
    }
    // Letters are no results; a person's may say which agent is to be run again.
    const letters = arrived.flatMap((one) => ('outcome' in one || one.from !== PERSON ? [] : [one.text]));
    this.#retries = new Set(letters.flatMap((text) => retriedIn(text) ?? []));
    for (const one of arrived) {
      if (!('outcome' in one)) continue;
      const started = this.#agents.get(one.agent_id);
      if (started === undefined) continue;
      const { outcome } = one;
      if (outcome.type === 'failure' && this.#retries.has(one.agent_id))
        this.#held.set(started.call, outcome);
      else this.#ended(one.agent_id, started, outcome, add);
    }
  }

  #ended(agent_id: string, { call, label, checked }: Started, outcome: ChildOutcome, add: Add): void {
    this.#agents.delete(agent_id);
    if (outcome.type === 'success') {
      const value = checked ? checkedValue(outcome.result) : outcome.result;
      this.ends.push({ call, label, type: 'value', reason: '', value });
      return add({ call, type: 'value', value });
    }
    const type = outcome.error_kind === 'killed' ? 'skipped' : 'failed';
    this.ends.push({ call, label, type, reason: outcome.error });
    add({ call, type, reason: outcome.error });
  }
}

type Add = (
  entry: { readonly call: number } & (
    | { readonly type: 'value'; readonly value: unknown }
    | { readonly type: 'failed' | 'skipped'; readonly reason: string }
  ),
) => void;

/** Results from an earlier run are given in the order in which that run had them: scripts see it. */
function asBefore(results: readonly ResultContent[]): readonly ResultContent[] {
  const placed = results.map((result) => {
    const place = result.output.startsWith(REUSED) ? parsedObject(result.output)?.place : null;
    return { result, place: typeof place === 'number' ? place : Number.MAX_SAFE_INTEGER };
  });
  return placed.sort((a, b) => a.place - b.place).map(({ result }) => result);
}

/** A submitted result is JSON, after which the state of a worktree may be told. */
export function checkedValue(text: string): unknown {
  return jsonIn(text) ?? jsonIn(text.replace(/\n\n\[worktree\] [\s\S]*$/, '')) ?? text;
}

/** Why a call was refused, in the words that a person reads. */
export function refusalOf(output: string): string {
  const { error } = (parsedObject(output) ?? {}) as { error?: { message?: unknown } };
  return typeof error?.message === 'string' ? error.message : output;
}

function numberOf(call_id: string): number | null {
  const found = ID.exec(call_id)?.[1];
  return found === undefined ? null : Number(found);
}
