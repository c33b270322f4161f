import type { ProgramAnswer } from '../../../kernel/transition/effect.ts';
import type { Question, QuestionAnswer } from '../../../records/question/question.ts';
import { cutText } from '../../../records/text/cut-text.ts';
import { isJsonObject, parseJson } from '../../../records/text/json-text.ts';
import { storable } from '../../../records/text/text.ts';
import type { ToolContext } from '../../../records/tool.ts';
import { clean } from '../../../render/clean.ts';
import type { Store } from '../../../store/store.ts';
import type { Reached } from '../../executor/budget-state.ts';
import type { Cell } from '../../executor/cell.ts';
import type { Executor } from '../../executor/executor.ts';
import type { RuntimeEvent } from '../../runtime-event.ts';
import { heldRequest } from '../held-request.ts';
import { answerTo, askOf, type GrantContext, mayAsk, type QueueContext } from './approvals.ts';

interface AskContext extends GrantContext, QueueContext {
  readonly store: Pick<Store, 'asks' | 'grants'>;
  readonly emit: (event: RuntimeEvent) => void;
}

/** Maximum questions of one call, so that a tool cannot flood a person with them. */
const QUESTIONS_MAX = 20;
const SUBJECT_MAX = 500;

interface Asker {
  readonly call: { readonly id: string };
  readonly tool: string;
  /** Whether a later process may run the call again, which then asks the same. */
  readonly repeats?: boolean;
  readonly over: AbortSignal;
}

/** Lets a tool ask a person while its call runs: the question stays in the queue of approvals until it is answered or withdrawn, or the call ends. */
export function questionsOf(
  cell: Cell,
  { call, tool, repeats = false, over }: Asker,
  context: AskContext,
): NonNullable<ToolContext['question']> {
  let count = 0;
  const seen = new Set<string>();
  return async (question, signal) => {
    const { agent } = cell;
    count += 1;
    if (count > QUESTIONS_MAX || over.aborted || cell.gone) return { action: 'cancel' };
    const input = storable(JSON.stringify(question));
    // What a process asked that has ended, and a person has answered since, is not asked again.
    const asked = repeats ? await context.store.asks({ agent_id: agent.id }) : [];
    for (const { id, call_id, input: before, verdict, note, answered_by } of asked) {
      if (call_id !== call.id || before !== input || seen.has(id)) continue;
      if (verdict === null || verdict === 'void') continue;
      seen.add(id);
      return answerOf({ verdict, note: note ?? '', by: answered_by ?? '' }, question);
    }
    if (!mayAsk(agent, context)) {
      const text = `nobody can be asked in this run, so a question of ${question.asker} was declined: ${clean(question.message)}`;
      context.emit({ type: 'notice', agent_id: agent.id, text });
      return { action: 'nobody' };
    }
    const about = {
      ...{ tool, subject: cutText(clean(question.message), SUBJECT_MAX) },
      ...{ subject_kind: 'question' as const, difference: null },
    };
    const ask = askOf(agent, { id: call.id, input }, about, `a question of ${question.asker}`, context);
    seen.add(ask.id);
    const withdraw = () => {
      const waiting = cell.questions.get(ask.id);
      if (waiting === undefined) return;
      waiting(null);
      if (cell.gone) return;
      context.executor.happened(cell, {
        type: 'question-withdrawn',
        at: context.clock.now(),
        ask_id: ask.id,
      });
    };
    for (const one of [signal, over]) one.addEventListener('abort', withdraw, { once: true });
    try {
      return answerOf(await answerTo(cell, ask, context.executor), question);
    } finally {
      for (const one of [signal, over]) one.removeEventListener('abort', withdraw);
    }
  };
}

const LIMITS = {
  tokens: 'the limit of tokens',
  cost_usd: 'the limit of dollars',
  turns: 'the limit of requests',
};

/** Asks the person, once for all agents of the tree, whether its limit is doubled; null if the question was withdrawn. */
export function raisedLimit(
  cell: Cell,
  { limit, used }: Reached,
  over: AbortSignal,
  context: AskContext & { readonly executor: Executor; readonly store: Pick<Store, 'tree' | 'setLimits'> },
): Promise<boolean | null> {
  const { agent_index } = context.executor;
  const { id, root_id } = cell.agent;
  const most = agent_index.tree(root_id)?.limits[limit] ?? 0;
  const key = `${root_id} ${limit} ${most}`;
  const ask = async () => {
    const message = `${used}. Allow as much again and go on? Otherwise the agents finish now.`;
    const question = questionsOf(cell, { call: { id }, tool: 'limit', over }, context);
    const { action } = await question({ asker: 'Coppice', message, fields: [], call: '' }, over);
    if (action === 'cancel') throw new Error('withdrawn');
    const tree = action === 'accept' ? await context.store.tree(root_id) : null;
    if (tree === null) return false;
    agent_index.setTree(await context.store.setLimits(root_id, { ...tree.limits, [limit]: 2 * most }));
    return true;
  };
  const before = agent_index.raises.get(key);
  const asked = before ?? ask().catch(() => null);
  agent_index.raises.set(key, asked);
  if (before !== undefined) {
    const hold = heldRequest(cell, context, context.clock.now());
    hold({ type: 'waiting', reason: `waits for your answer about ${LIMITS[limit]}`, delay_ms: null });
    void asked.then(() => hold(null));
  }
  // Withdrawn, or the ledger cannot be reached: whoever still needs it asks again.
  void asked.then((is_raised) => is_raised === null && agent_index.raises.delete(key));
  return asked;
}

function answerOf(answer: ProgramAnswer | null, { fields }: Question): QuestionAnswer {
  if (answer === null || answer.dismissed === true) return { action: 'cancel' };
  const { verdict, note, by } = answer;
  if (verdict === 'deny') return { action: 'decline', note, by: by === 'you' ? 'the user' : by };
  const values = parseJson(note);
  if (!values.ok || !isJsonObject(values.value)) return { action: 'accept', values: {} };
  const names = new Set(fields.map(({ name }) => name));
  const known = Object.entries(values.value).filter(([name]) => names.has(name));
  return { action: 'accept', values: Object.fromEntries(known) as Readonly<Record<string, string>> };
}
