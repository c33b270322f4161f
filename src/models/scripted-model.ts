import { readFile } from 'node:fs/promises';
import { CoppiceError } from '../core/coppice-error.ts';
import type { AssistantPart } from '../core/message.ts';
import type { Model, ModelDelta, ModelOutcome, ModelRequest } from './model.ts';
import { conversationOf, type ScriptedConversation } from './scripted-conversation.ts';
import { type CheckedRule, type ScriptedRules, scriptedRules } from './scripted-rules.ts';
import { fill } from './scripted-template.ts';

/** Characters of one piece when a text is streamed. */
const PIECE = 24;

/** Opens a rule file (docs/scripted-model.md). Rejects with `E_RULES`. */
export async function openScriptedModel(path: string): Promise<Model> {
  const rules = await readFile(path, 'utf8')
    .then(JSON.parse)
    .catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      throw new CoppiceError('E_RULES', `the rule file ${path} cannot be read: ${reason}`, { cause: error });
    });
  return createScriptedModel(rules as ScriptedRules, path);
}

/**
 * A model that answers from rules: deterministic, offline, a full citizen otherwise (streams, is aborted, makes calls). `label` names
 * the rules in messages. Throws `E_RULES`.
 */
export function createScriptedModel(input: ScriptedRules, label: string): Model {
  const parsed = scriptedRules.safeParse(input);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const where = issue?.path.join('.') ?? '';
    throw new CoppiceError('E_RULES', `${label}: ${where === '' ? 'the file' : where}: ${issue?.message}`, {
      hint: 'See docs/scripted-model.md',
    });
  }
  const { rules } = parsed.data;
  const id = `scripted/${label}`;
  return {
    id,
    context_window: null,
    stream: (request, onDelta) => stream(id, label, rules, request, onDelta),
  };
}

async function stream(
  id: string,
  label: string,
  rules: readonly CheckedRule[],
  request: ModelRequest,
  onDelta: (delta: ModelDelta) => void,
): Promise<ModelOutcome> {
  const conversation = conversationOf(request);
  const rule = rules.find((one) => matches(one, conversation));
  if (rule === undefined) {
    const end = conversation.last?.output ?? conversation.user;
    const error = `no rule of ${label} matches agent "${request.agent.name}" at step ${conversation.step}: "${end.slice(0, 120)}"`;
    return { type: 'failure', failure: { kind: 'bad_request', error, retryable: false } };
  }
  if (!(await pause(rule.delay_ms ?? 0, request.signal))) return { type: 'aborted' };
  const text = String(fill(rule.say ?? '', conversation, 0));
  const spoken = await speak(text, rule.chunk_ms ?? 0, request.signal, onDelta);
  if (spoken !== null) return { type: 'aborted', partial: spoken };
  const calls = callsOf(rule, conversation, onDelta);
  const parts: AssistantPart[] = [
    ...(rule.reasoning === undefined ? [] : [{ type: 'reasoning' as const, text: rule.reasoning }]),
    ...(text === '' ? [] : [{ type: 'text' as const, text }]),
    ...calls,
  ];
  return {
    type: 'answer',
    content: { model: id, parts },
    usage: usageOf(rule, request, parts),
    finish: calls.length > 0 ? 'calls' : 'stop',
  };
}

function matches({ when }: CheckedRule, conversation: ScriptedConversation): boolean {
  const { agent, step, user, last } = conversation;
  return (
    (when.agent === undefined || glob(when.agent).test(agent.name)) &&
    (when.root === undefined || when.root === (agent.parent_id === null)) &&
    (when.step === undefined || when.step === step) &&
    (when.user === undefined || new RegExp(when.user, 's').test(user)) &&
    (when.tool === undefined || when.tool === last?.name) &&
    (when.result === undefined || (last !== null && new RegExp(when.result, 's').test(last.output)))
  );
}

function glob(pattern: string): RegExp {
  return new RegExp(
    `^${pattern
      .split('*')
      .map((part) => RegExp.escape(part))
      .join('.*')}$`,
    's',
  );
}

function callsOf(
  rule: CheckedRule,
  conversation: ScriptedConversation,
  onDelta: (delta: ModelDelta) => void,
): AssistantPart[] {
  const calls: AssistantPart[] = [];
  for (const { name, input, repeat } of rule.calls ?? []) {
    const times =
      repeat === undefined ? 1 : Math.max(0, Math.floor(Number(fill(repeat, conversation, 0)) || 0));
    for (let index = 0; index < times; index += 1) {
      const id = `call_${conversation.step}_${calls.length}_${conversation.agent.id.slice(0, 8)}`;
      calls.push({ type: 'call', id, name, input: JSON.stringify(fill(input, conversation, index)) });
      onDelta({ type: 'call', id, name });
    }
  }
  return calls;
}

/** Streams the text in pieces; null when all of it was said, else what had been said when it was aborted. */
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
    if (chunk_ms > 0 && !(await pause(chunk_ms, signal))) return text.slice(0, from + size);
  }
  return null;
}

/** Where a rule says nothing, about four characters count as one token. */
function usageOf(
  { usage }: CheckedRule,
  request: ModelRequest,
  parts: readonly AssistantPart[],
): Extract<ModelOutcome, { type: 'answer' }>['usage'] {
  const input =
    usage?.input ?? Math.ceil((request.system.length + JSON.stringify(request.messages).length) / 4);
  const output = usage?.output ?? Math.ceil(JSON.stringify(parts).length / 4);
  return { input, output, cached: Math.min(usage?.cached ?? 0, input), reasoning: 0, cost_usd: null };
}

/** False when aborted. */
function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  if (ms === 0 || signal.aborted) return Promise.resolve(!signal.aborted);
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve(!signal.aborted);
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end, { once: true });
  });
}
