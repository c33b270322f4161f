import { checkpointOf } from '../../kernel/context/checkpoint-of.ts';
import type { RequestRecord } from '../../kernel/step.ts';
import type { EventOf } from '../../kernel/transition/event.ts';
import type { Model, ModelDelta, ModelOutcome, ModelRequest } from '../../models/model.ts';
import { assistantText } from '../../records/conversation/child-text.ts';
import { storable } from '../../records/text/text.ts';
import type { Cell } from '../executor/cell.ts';
import type { Executor } from '../executor/executor.ts';
import type { ExecutorOptions } from '../executor/executor-options.ts';
import type { ContextOptions, Sent } from './context-room.ts';
import type { ModelCache } from './model-cache.ts';

const WORDS_MAX = 2_000;
/** Assumed window if it is unknown, in characters. */
const USUAL_WINDOW = 400_000;
/** Failures that any request would meet now: no reason to continue without a summary. */
const OUTAGES: ReadonlySet<string> = new Set(['auth', 'no_credit', 'rate_limit', 'overloaded', 'network']);

/** Text of the last message of a request for a summary. */
function order(words: number, note: string): string {
  const kept = note === '' ? '' : ` The user wants this to be kept: ${note}`;
  return [
    '[Coppice] The conversation is about to exceed the context window, so its older part will be replaced by your summary. Do not call any tool now.',
    `Write the summary, in at most ${words} words, for yourself to continue from: what was asked, what was done and found (with names of files, commands, ids and numbers), what was decided and why, what failed, what is left to do and what comes next. What the user said and your task are kept word for word in addition to it.${kept}`,
  ].join('\n\n');
}

export interface SummaryContext extends Pick<ExecutorOptions, 'clock' | 'emit'> {
  readonly executor: Executor;
  readonly models: ModelCache;
  readonly context?: ContextOptions;
}

export interface Summarised {
  readonly type: 'event';
  readonly event: EventOf<'summarised'>;
  readonly request?: Pick<RequestRecord, 'model' | 'usage'>;
}

/**
 * Requests the summary of a conversation, with the same prefix as any other request of it, so that the provider's cache is
 * hit. Without a summary, the checkpoint holds only what needs no model; only an outage counts as a failure.
 */
export async function summarise(
  cell: Cell,
  model: Model,
  request: ModelRequest,
  sent: Sent,
  hold: (delta: ModelDelta) => void,
  { executor, clock, context: { model: other } = {}, models, emit }: SummaryContext,
): Promise<Summarised | Exclude<ModelOutcome, { type: 'answer' }>> {
  const { agent } = cell;
  const { rooms } = models;
  const window = rooms.room(sent)?.window ?? USUAL_WINDOW;
  const surroundings = {
    tree: executor.agent_index.tree(agent.root_id),
    children: executor.agent_index.children(agent.id),
  };
  const event = (summary: string | null): EventOf<'summarised'> => ({
    type: 'summarised',
    at: clock.now(),
    checkpoint: checkpointOf(cell, summary === null ? null : storable(summary), window, surroundings),
  });
  const nothing = event(null);
  if (nothing.checkpoint === null) return { type: 'event', event: nothing };
  emit({ type: 'delta', agent_id: agent.id, delta: { type: 'waiting', reason: 'summarising', delay_ms: 0 } });
  const note = agent.state.type === 'requesting' ? (agent.state.compacting?.note ?? '') : '';
  const words = Math.max(50, Math.min(WORDS_MAX, Math.floor(window / 100)));
  const last = { role: 'user' as const, text: order(words, note) };
  const asked = { ...request, messages: [...request.messages, last] };
  const cheaper = other === undefined ? null : await models.modelFor(agent, other).catch(() => null);
  // The other model's window may be too small for the conversation.
  const fits = cheaper !== null && rooms.relieve({ ...sent, model: cheaper }, false, 0) === null;
  let outcome: ModelOutcome = { type: 'aborted' };
  // A refusal may show that its window is smaller than known. They may be the same model.
  for (const writer of new Set(fits ? [cheaper, model] : [model])) {
    outcome = await writer.stream(asked, hold);
    if (outcome.type !== 'failure' || outcome.failure.kind !== 'context_overflow') break;
    rooms.refused({ ...sent, model: writer }, outcome.failure.error);
  }
  if (outcome.type === 'aborted') return outcome;
  if (outcome.type === 'failure')
    return OUTAGES.has(outcome.failure.kind) ? outcome : { type: 'event', event: event(null) };
  const { content, usage, finish } = outcome;
  const text = finish === 'refused' ? '' : assistantText(content).trim();
  return {
    type: 'event',
    event: event(text === '' ? null : text),
    request: { model: content.model, usage },
  };
}
