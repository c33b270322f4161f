import type { WorkflowWait } from '../../records/conversation/facts/workflow-wait.ts';
import type { ResultContent } from '../../records/conversation/message.ts';
import type { PromptMessage } from '../../records/conversation/prompt-message.ts';
import { jsonIn, parsedObject } from '../../records/text/json-text.ts';
import { REUSED } from '../../records/workflow/earlier-call.ts';
import {
  CALL_KINDS,
  type CallKind,
  type RecordedCall,
  type ScriptBudget,
  type ScriptEntry,
} from './script-step.ts';

const ID = /^call-(\d+)$/;

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
    const add = (
      entry: Pick<ScriptEntry, 'call'> &
        ({ type: 'value'; value: unknown } | { type: 'failed' | 'skipped'; reason: string }),
    ): void => {
      this.#count += 1;
      entries.push({ ...entry, now: this.#now, budget: this.budget });
    };
    for (; this.#read < messages.length; this.#read += 1) {
      const message = messages[this.#read] as PromptMessage;
      if (message.role === 'assistant') {
        this.answered_after = this.#count;
        this.notes = [];
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
      this.ends.push({ call: number, label: this.#labelOf(number), type: 'value', reason: '' });
      add({ call: number, type: 'value', value: output.value });
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
    for (const one of arrived) {
      // Letters of people and agents are no results.
      if (!('outcome' in one)) continue;
      const started = this.#agents.get(one.agent_id);
      if (started === undefined) continue;
      this.#agents.delete(one.agent_id);
      const { call, label, checked } = started;
      const { outcome } = one;
      const end = (type: AgentEnd['type'], reason = '') => this.ends.push({ call, label, type, reason });
      if (outcome.type === 'success') {
        end('value');
        add({ call, type: 'value', value: checked ? checkedValue(outcome.result) : outcome.result });
        continue;
      }
      const type = outcome.error_kind === 'killed' ? 'skipped' : 'failed';
      end(type, outcome.error);
      add({ call, type, reason: outcome.error });
    }
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
