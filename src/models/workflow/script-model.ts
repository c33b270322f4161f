import type { Agent } from '../../records/agent/agent.ts';
import { NO_USAGE } from '../../records/agent/usage.ts';
import type { AssistantPart, CallPart } from '../../records/conversation/message.ts';
import { failedHead } from '../../records/run/run-end.ts';
import { cutText } from '../../records/text/cut-text.ts';
import type { ResultPlace, WorkflowTerms } from '../../records/workflow/workflow-terms.ts';
import type { Model, ModelOutcome, ModelRequest } from '../model.ts';
import { FunctionRun } from './function-run.ts';
import type { WorkflowFunction } from './globals/workflow-function.ts';
import { type AgentEnd, idOfCall, RecordedRun } from './recorded-run.ts';
import { openScript, type ScriptRun } from './script-run.ts';
import {
  SAID_MAX,
  type ScriptCall,
  type ScriptEvent,
  type ScriptFailure,
  type ScriptSetup,
  type ScriptState,
} from './script-step.ts';

/** Calls of one message: the remaining ones are made in the next. */
const CALLS_MAX = 100;
const CHARACTERS_MAX = 1_000_000;
/** Failures that a result names. */
const NAMED_MAX = 10;
/** Of agents that had finished when their run failed, so many are named, each with so much of its result. */
const FINISHED_MAX = 50;
const FINISHED_CHARACTERS_MAX = 300;
/** A run that has waited for so long is parked: its interpreter, some 16 MB and a thread, is given back. Its next result finds it by a replay. */
const PARK_MS = 10_000;
const ABOUT = { id: 'workflow', context_window: null, tells_cost: true, is_free: true };

/**
 * The model of a workflow run: its script. What the script has asked for and got stands in the conversation, so any process that leads the run runs the script again
 * from its first line and is where it was (docs/workflows.md#replay). `own`: the function of this program that is in the place of a script.
 */
export function scriptModel(
  { id, config }: Agent,
  terms: WorkflowTerms,
  own?: () => WorkflowFunction | undefined,
  park_ms = PARK_MS,
): Model {
  if (terms.ask !== undefined) return askModel(terms.ask);
  const total = terms.tokens ?? config.budgets?.find(({ tokens }) => tokens !== undefined)?.tokens ?? null;
  const held: Held = { own, run: null, recorded: new RecordedRun(terms.started_at, total), unsaid: [] };
  let queue: Promise<unknown> = Promise.resolve();
  let parking: NodeJS.Timeout | undefined;
  const letGo = () => {
    const { run } = held;
    Object.assign(held, { run: null, recorded: new RecordedRun(terms.started_at, total), unsaid: [] });
    return run?.dispose();
  };
  return {
    ...ABOUT,
    stream(request) {
      clearTimeout(parking);
      const answer = queue.then(() => answered(request, terms, total, held));
      const told = answer.then((outcome) => withFinished(outcome, held.recorded.ends, id));
      queue = told.then(() => {
        clearTimeout(parking);
        // A function of the program cannot be stopped, so it is not run a second time beside itself.
        if (terms.program === true) return;
        parking = setTimeout(() => {
          queue = queue.then(letGo);
        }, park_ms).unref();
      });
      return told;
    },
    async close() {
      clearTimeout(parking);
      await letGo();
    },
  };
}

/** Asks its question, and answers with what the person says. */
function askModel(question: NonNullable<WorkflowTerms['ask']>): Model {
  return {
    ...ABOUT,
    async stream({ messages, signal }) {
      if (signal.aborted) return { type: 'aborted' };
      const last = messages.at(-1);
      const [result] = last?.role === 'results' ? last.results : [];
      if (result === undefined)
        return answer([{ type: 'call', id: 'ask', name: 'ask_person', input: JSON.stringify(question) }]);
      return result.status === 'ok'
        ? answer([{ type: 'text', text: result.output }])
        : failure(result.output);
    },
  };
}

interface Held {
  /** The function that this program has for a run, which it may come to know later. */
  readonly own: (() => WorkflowFunction | undefined) | undefined;
  run: ScriptRun | null;
  recorded: RecordedRun;
  /** What the script did and no message says yet. */
  unsaid: ScriptEvent[];
  state?: ScriptState;
}

async function answered(
  { messages, signal, used_up }: ModelRequest,
  terms: WorkflowTerms,
  total: number | null,
  held: Held,
): Promise<ModelOutcome> {
  if (signal.aborted) return { type: 'aborted' };
  try {
    await advance(messages, terms, total, held);
  } catch (error) {
    return failure(error instanceof Error ? error.message : String(error));
  }
  const { recorded } = held;
  held.unsaid = held.unsaid.filter((event) =>
    event.type === 'call' ? event.number > recorded.last_call : event.after > recorded.answered_after,
  );
  const parts: AssistantPart[] = [];
  const text = [...recorded.notes.map((note) => `(${note})`), ...held.unsaid.flatMap(told)].join('\n');
  if (text !== '') parts.push({ type: 'text', text: cutText(text, SAID_MAX, '… (cut)') });
  const calls = held.unsaid.filter((event) => event.type === 'call');
  const cleared = new Set(held.unsaid.flatMap((event) => (event.type === 'cancel' ? [event.number] : [])));
  for (const number of cleared) recorded.timers.delete(number);
  const state = held.state ?? { type: 'stuck' };
  const retries = state.type === 'waiting' ? recorded.retries : [];
  // They are asked for again when the run goes on.
  const starts = retries.length > 0 || calls.some(({ kind }) => kind === 'agent' || kind === 'workflow');
  if (used_up !== undefined && starts && state.type === 'waiting') return failure(used_up, 'limit');
  if (calls.length + retries.length > 0 && state.type !== 'failed')
    return answer([...parts, ...retries, ...callsNow(calls)]);
  if (state.type === 'waiting') return answer([...parts, nextCall(recorded)]);
  const { open } = recorded;
  // The last message is the result and nothing else, so what there is to say is said before.
  if (open.length > 0 || parts.length > 0) return answer([...parts, skipCall(open, recorded)]);
  // Its thread is of no more use; asked again, the run is replayed.
  await held.run?.dispose();
  held.run = null;
  if (state.type === 'done') return answer([resultPart(state.result, recorded.ends, terms.nested)]);
  return failure(
    state.type === 'failed'
      ? failureText(state.failure)
      : 'the script awaits a promise that nothing will resolve',
  );
}

async function advance(
  messages: ModelRequest['messages'],
  terms: WorkflowTerms,
  total: number | null,
  held: Held,
): Promise<void> {
  const is_new = held.run === null;
  if (is_new) {
    const { script: source, args, seed, started_at, calls: agents, nested } = terms;
    held.recorded = new RecordedRun(started_at, total);
    held.unsaid = [];
    const setup = {
      ...(args === undefined ? {} : { args: JSON.parse(args) }),
      ...{ seed, started_at, budget: held.recorded.budget, limits: { agents } },
      ...(nested ? { nested } : {}),
    };
    held.run =
      terms.program === true
        ? functionRun(held.own?.(), setup, terms)
        : await openScript({ source, ...setup });
  }
  const { calls, entries } = held.recorded.next(messages);
  if (!is_new && entries.length === 0) return;
  const { events, state } = await (held.run as ScriptRun).feed(entries, is_new ? calls : undefined);
  held.unsaid.push(...events);
  held.state = state;
}

function functionRun(
  own: WorkflowFunction | undefined,
  setup: Omit<ScriptSetup, 'source'>,
  { name }: WorkflowTerms,
): ScriptRun {
  if (own !== undefined) return new FunctionRun(own, setup);
  throw new Error(
    `the workflow ${name} is a function of another program: it goes on when that calls it again with the same id`,
  );
}

function told(event: ScriptEvent): string[] {
  if (event.type === 'log') return [event.text];
  if (event.type === 'phase') return [`## ${event.title}`];
  if (event.type === 'notice') return [`(${event.line === null ? '' : `line ${event.line}: `}${event.text})`];
  return [];
}

function callsNow(calls: readonly ScriptCall[]): CallPart[] {
  const parts: CallPart[] = [];
  let characters = 0;
  for (const call of calls.slice(0, CALLS_MAX)) {
    const input = JSON.stringify(inputOf(call));
    characters += input.length;
    if (parts.length > 0 && characters > CHARACTERS_MAX) break;
    parts.push({ type: 'call', id: idOfCall(call.number), name: call.kind, input });
  }
  return parts;
}

function inputOf({ prompt, options, phase, label, key }: ScriptCall): Record<string, unknown> {
  return {
    prompt,
    key,
    ...(label === null ? {} : { label }),
    ...(phase === null ? {} : { phase }),
    ...options,
  };
}

function nextCall(recorded: RecordedRun): CallPart {
  const until = Math.min(...recorded.timers.values());
  const input = Number.isFinite(until) ? { until } : {};
  return { type: 'call', id: `next-${recorded.answered_after}`, name: 'next', input: JSON.stringify(input) };
}

function skipCall(agent_ids: readonly string[], recorded: RecordedRun): CallPart {
  const id = `skip-${recorded.answered_after}`;
  return { type: 'call', id, name: 'skip', input: JSON.stringify({ agent_ids }) };
}

function answer(parts: readonly AssistantPart[]): ModelOutcome {
  const finish = parts.some(({ type }) => type === 'call') ? 'calls' : 'stop';
  return { type: 'answer', content: { model: 'workflow', parts }, usage: NO_USAGE, finish };
}

function failure(error: string, kind: 'script' | 'limit' = 'script'): ModelOutcome {
  return { type: 'failure', failure: { kind, error, retryable: kind === 'limit' } };
}

/** With what a run had when it failed, for whoever gets its end: its agents are paid for, and a re-run takes their results. */
function withFinished(outcome: ModelOutcome, ends: readonly AgentEnd[], run_id: string): ModelOutcome {
  const done = ends.filter(({ type }) => type === 'value');
  if (outcome.type !== 'failure' || done.length === 0) return outcome;
  const shown = done.slice(0, FINISHED_MAX).map(({ label, value }) => {
    const text = (typeof value === 'string' ? value : JSON.stringify(value)).replaceAll(/\s+/g, ' ');
    return `- ${label}: ${cutText(text, FINISHED_CHARACTERS_MAX, '…')}`;
  });
  const rerun = `coppice workflow rerun ${run_id.slice(0, 8)}`;
  const head = `Agents that had finished (${done.length}); \`${rerun}\` takes their results:`;
  const more = done.length > shown.length ? [`- … and ${done.length - shown.length} more`] : [];
  return { ...outcome, partial: [head, ...shown, ...more].join('\n') };
}

function failureText({ kind, message, line, stack }: ScriptFailure): string {
  const where = line === null ? '' : ` (line ${line})`;
  const what = kind === 'diverged' ? 'the script no longer asks for what the ledger has: ' : '';
  return `${what}${message}${where}${stack.length > 1 ? `\n${stack.join('\n')}` : ''}`;
}

/** The script's result; before it, what failed. Programs read the value itself, which begins at `from` (`workflowValue`). */
function resultPart(result: string, ends: readonly AgentEnd[], nested = false): AssistantPart {
  const value: unknown = JSON.parse(result);
  const is_text = !nested && typeof value === 'string';
  const text = is_text ? value : result;
  const failed = ends.filter(({ type }) => type === 'failed');
  const skipped = ends.filter(({ type }) => type === 'skipped').length;
  const counts = [
    ...(failed.length > 0 ? [`${failed.length} failed`] : []),
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
  ];
  const named = failed.slice(0, NAMED_MAX).map(({ label, reason }) => `- ${label}: ${reason}`);
  const before =
    nested || counts.length === 0
      ? ''
      : `${[failedHead(ends.length, counts.join(', ')), ...named].join('\n')}\n\n`;
  const place: ResultPlace = { from: before.length, is_text };
  return { type: 'text', text: before + text, metadata: { workflow: { ...place } } };
}
