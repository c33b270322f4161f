import { readFile } from 'node:fs/promises';
import { matchesText } from '../../permissions/glob-match.ts';
import { sleep } from '../../processes/waiting.ts';
import type { Usage } from '../../records/agent/usage.ts';
import type { AssistantPart, CallPart } from '../../records/conversation/message.ts';
import type { PromptMessage } from '../../records/conversation/prompt-message.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { keptIn } from '../../records/kept-in.ts';
import { cutText } from '../../records/text/cut-text.ts';
import { explainIssues } from '../../records/text/explain-issues.ts';
import { jsonFaultPlace } from '../../records/text/json-text.ts';
import type { Model, ModelDelta, ModelOutcome, ModelRequest } from '../model.ts';
import { conversationOf, type ScriptedConversation } from './scripted-conversation.ts';
import { type CheckedRule, MOST_REPEATS, type ScriptedRules, scriptedRules } from './scripted-rules.ts';
import { type CallPlace, fill } from './scripted-template.ts';

/** Characters of one piece when a text is streamed. */
const PIECE = 24;
/** Context of templates outside of calls. */
const NO_CALL: CallPlace = { index: 0, id: '' };

/** Opens a rule file (docs/scripted-model.md). Rejects with `E_RULES`. */
export async function openScriptedModel(path: string): Promise<Model> {
  const content = await readFile(path).catch((error: Error) => {
    throw new CoppiceError('E_RULES', `the rule file ${path} cannot be read: ${error.message}`, {
      cause: error,
    });
  });
  return createScriptedModel(rulesIn(new TextDecoder().decode(content), path), path, true);
}

/** Its errors quote nothing of the file, which may be another one than was meant. */
function rulesIn(text: string, path: string): ScriptedRules {
  try {
    return JSON.parse(text);
  } catch {
    throw new CoppiceError('E_RULES', `the rule file ${path} is not valid JSON at ${jsonFaultPlace(text)}`);
  }
}

/**
 * A model that answers from rules: deterministic and offline, otherwise complete (streams, aborts, makes calls). `label` names the
 * rules in messages. Throws `E_RULES`. `is_file`: the message quotes nothing.
 */
export function createScriptedModel(input: ScriptedRules, label: string, is_file = false): Model {
  const parsed = scriptedRules.safeParse(input);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const why = issue?.code === 'unrecognized_keys' ? 'it has a field that is not known' : issue?.message;
    const said = is_file
      ? `${issue?.path.join('.') || 'the file'}: ${why}`
      : explainIssues(parsed.error.issues, input);
    throw new CoppiceError('E_RULES', `${label}: ${said}`, {
      hint: 'See docs/scripted-model.md',
    });
  }
  const { rules, context_window = null } = parsed.data;
  const id = `scripted/${label}`;
  const sizes = new PromptSizes();
  return {
    id,
    context_window,
    // Answers cost nothing.
    tells_cost: true,
    is_free: true,
    stream: (request, onDelta) => stream({ id, label, rules, sizes, context_window }, request, onDelta),
  };
}

interface Script {
  readonly id: string;
  readonly label: string;
  readonly rules: readonly CheckedRule[];
  readonly sizes: PromptSizes;
  readonly context_window: number | null;
}

async function stream(
  { id, label, rules, sizes, context_window }: Script,
  request: ModelRequest,
  onDelta: (delta: ModelDelta) => void,
): Promise<ModelOutcome> {
  const tokens = Math.ceil(sizes.of(request) / 4);
  if (context_window !== null && tokens > context_window) {
    const error = `the maximum context length is ${context_window} tokens, and the request has ${tokens}`;
    return { type: 'failure', failure: { kind: 'context_overflow', error, retryable: false } };
  }
  const { rule, conversation } = choose(rules, request);
  if (rule === undefined) {
    const end = conversation.last?.output ?? conversation.user;
    return badRequest(
      `no rule of ${label} matches agent "${request.agent.name}" at step ${conversation.step}: "${cutText(end, 120)}"`,
    );
  }
  const calls = callsOf(rule, conversation, request);
  if (typeof calls === 'string') return badRequest(`${label}: rules.${rules.indexOf(rule)}.${calls}`);
  if (!(await sleep(rule.delay_ms ?? 0, request.signal))) return { type: 'aborted' };
  const reasoning = String(fill(rule.reasoning ?? '', conversation, NO_CALL));
  if (reasoning !== '') onDelta({ type: 'reasoning', text: reasoning });
  const text = String(fill(rule.say ?? '', conversation, NO_CALL));
  const spoken = await speak(text, rule.chunk_ms ?? 0, request.signal, onDelta);
  if (spoken !== null) return { type: 'aborted', partial: spoken };
  for (const call of calls) onDelta({ type: 'call', id: call.id, name: call.name });
  const parts: AssistantPart[] = [
    ...(reasoning === '' ? [] : [{ type: 'reasoning' as const, text: reasoning }]),
    ...(text === '' ? [] : [{ type: 'text' as const, text }]),
    ...calls,
  ];
  return {
    type: 'answer',
    content: { model: id, parts },
    usage: usageOf(rule, tokens, parts),
    finish: calls.length > 0 ? 'calls' : 'stop',
  };
}

function badRequest(error: string): ModelOutcome {
  return { type: 'failure', failure: { kind: 'bad_request', error, retryable: false } };
}

/**
 * The first matching rule. Used `once` rules are found by replaying the agent's answers, so that the conversation alone decides and a successor process
 * decides identically.
 */
function choose(
  rules: readonly CheckedRule[],
  request: ModelRequest,
): { readonly rule: CheckedRule | undefined; readonly conversation: ScriptedConversation } {
  const spent = new Set<CheckedRule>();
  const first = (conversation: ScriptedConversation) =>
    rules.find((one) => !spent.has(one) && matches(one, conversation));
  const again = (before: ScriptedConversation) => {
    const rule = first(before);
    if (rule?.once === true) spent.add(rule);
  };
  const conversation = rules.some((one) => one.once === true)
    ? conversationOf(request, again)
    : conversationOf(request);
  return { rule: first(conversation), conversation };
}

function matches({ when }: CheckedRule, conversation: ScriptedConversation): boolean {
  const { agent, step, user, last } = conversation;
  return (
    (when.agent === undefined || matchesText(when.agent, agent.name)) &&
    (when.root === undefined || when.root === (agent.parent_id === null)) &&
    (when.step === undefined || when.step === step) &&
    (when.user === undefined || new RegExp(when.user, 's').test(user)) &&
    (when.tool === undefined || when.tool === last?.name) &&
    (when.result === undefined || (last !== null && new RegExp(when.result, 's').test(last.output)))
  );
}

/** The calls of a rule, or a text that names the invalid field. */
function callsOf(
  rule: CheckedRule,
  conversation: ScriptedConversation,
  { agent, messages }: ModelRequest,
): CallPart[] | string {
  const calls: CallPart[] = [];
  // A checkpoint shortens a conversation, so numbers continue from the newest call.
  const newest = messages.findLast((message) => message.role === 'results')?.results.at(-1)?.call_id;
  const number = Math.max(messages.length, Number(/^call_(\d+)_/.exec(newest ?? '')?.[1] ?? 0) + 1);
  for (const [place, { name, input, repeat }] of (rule.calls ?? []).entries()) {
    const wanted = repeat === undefined ? 1 : fill(repeat, conversation, NO_CALL);
    const times = wanted === '' ? Number.NaN : Number(wanted);
    if (!Number.isInteger(times) || times < 0 || times > MOST_REPEATS)
      return `calls.${place}.repeat: "${String(wanted)}" is not a number from 0 to ${MOST_REPEATS}`;
    for (let index = 0; index < times; index += 1) {
      // Unique within a conversation by position, and among forks by agent.
      const id = `call_${number}_${calls.length}_${agent.id.slice(-12)}`;
      calls.push({ type: 'call', id, name, input: JSON.stringify(fill(input, conversation, { index, id })) });
    }
  }
  return calls;
}

/** Streams the text in pieces; null when complete, otherwise the text before the abort. */
async function speak(
  text: string,
  chunk_ms: number,
  signal: AbortSignal,
  onDelta: (delta: ModelDelta) => void,
): Promise<string | null> {
  if (text === '') return signal.aborted ? '' : null;
  const size = chunk_ms === 0 ? text.length : PIECE;
  for (let from = 0; from < text.length; from += size) {
    if (signal.aborted) return text.slice(0, from);
    onDelta({ type: 'text', text: text.slice(from, from + size) });
    if (chunk_ms > 0 && !(await sleep(chunk_ms, signal))) return text.slice(0, from + size);
  }
  return null;
}

/** JSON length of a request; shared messages are measured once. */
class PromptSizes {
  readonly #known = new WeakMap<PromptMessage, number>();

  of({ system, messages }: ModelRequest): number {
    let sum = system.length;
    for (const message of messages) sum += keptIn(this.#known, message, () => JSON.stringify(message).length);
    return sum;
  }
}

/** Usage as the rule sets it; otherwise an estimate of four characters per token. */
function usageOf({ usage }: CheckedRule, tokens: number, parts: readonly AssistantPart[]): Usage {
  const input = usage?.input ?? tokens;
  const output = usage?.output ?? Math.ceil(JSON.stringify(parts).length / 4);
  return { input, output, cached: Math.min(usage?.cached ?? 0, input), reasoning: 0, cost_usd: null };
}
