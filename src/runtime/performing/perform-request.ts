import type { RequestRecord } from '../../kernel/step.ts';
import type { EventOf } from '../../kernel/transition/event.ts';
import type { Model, ModelDelta, ModelOutcome, ModelRequest } from '../../models/model.ts';
import { modeText } from '../../permissions/mode.ts';
import { type Agent, isAgentProgram } from '../../records/agent/agent.ts';
import { amountsOf, NOTHING } from '../../records/agent/budget.ts';
import { NO_USAGE } from '../../records/agent/usage.ts';
import { pauseOf } from '../../records/conversation/parked.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { storable } from '../../records/text/text.ts';
import { unlessAborted } from '../../records/unless-aborted.ts';
import type { Store } from '../../store/store.ts';
import { checkBudgets, promptOutcome } from '../executor/budget-state.ts';
import { type Cell, withdrawQuestions } from '../executor/cell.ts';
import type { AgentTimers } from '../leading/agent-timers.ts';
import type { NewId } from '../runtime-options.ts';
import type { ToolCatalog } from '../tool-catalog.ts';
import type { WorktreeLifecycle } from '../worktree/worktree-lifecycle.ts';
import { answerAtHand, answered } from './answer-event.ts';
import { holdByHooks } from './asking/agent-hooks.ts';
import type { GrantContext } from './asking/approvals.ts';
import type { ProgramContext } from './asking/ask-for-program.ts';
import { awaitProvider, followTry, mayPark, park } from './await-provider.ts';
import { overheadOf, type Relieved, type Sent } from './context-room.ts';
import { heldRequest } from './held-request.ts';
import type { ModelCache } from './model-cache.ts';
import { pausedByPerson, pausedHere } from './pause-of-person.ts';
import { type Summarised, type SummaryContext, summarise } from './summarise.ts';
import { awaitTreeMode } from './tree-mode.ts';

export interface RequestContext extends ProgramContext, SummaryContext, GrantContext {
  readonly store: Pick<
    Store,
    'kind' | 'location' | 'agent' | 'asks' | 'newestRequests' | 'grants' | 'tree' | 'setLimits' | 'send'
  >;
  readonly newId: NewId;
  readonly catalog: ToolCatalog;
  readonly worktrees: WorktreeLifecycle;
  readonly timers: AgentTimers;
}

/** Asks the agent's model; the outcome comes back as an event. Never throws. */
export async function performRequest(cell: Cell, context: RequestContext, insists = false): Promise<void> {
  const { executor, clock } = context;
  cell.reopened = null;
  const controller = new AbortController();
  cell.request?.abort();
  cell.request = controller;
  cell.said = '';
  let began_ms = clock.lap();
  const now = clock.now();
  const by_person = await pausedByPerson(cell.agent, context, () => controller.signal.aborted);
  if (cell.request !== controller || cell.gone) return;
  if (by_person !== null) {
    cell.request = null;
    park(cell, by_person, context);
    return;
  }
  const at_hand = answerAtHand(cell, now, context.catalog);
  if (at_hand !== null) {
    const whole = await withChanges(cell, at_hand, context);
    if (cell.request === controller && !cell.gone) executor.happened(cell, whole);
    return;
  }
  const usual = executor.agent_index.tree(cell.agent.root_id)?.limits.usual === true;
  cell.is_free = usual && (await context.models.modelOf(cell.agent).catch(() => null))?.is_free === true;
  if (cell.request !== controller || cell.gone) return;
  let verdict = checkBudgets(cell, executor.agent_index, now);
  while (verdict.reached !== undefined && context.can_ask === 'terminal') {
    const { raisedLimit } = await import('./asking/ask-for-tool.ts');
    const is_raised = await raisedLimit(cell, verdict.reached, controller.signal, context);
    if (cell.request !== controller || cell.gone) return;
    if (is_raised === false) break;
    verdict = checkBudgets(cell, executor.agent_index, clock.now());
  }
  if (verdict.type === 'last' || verdict.type === 'tell') {
    cell.request = null;
    if (verdict.type === 'tell') cell.warned = true;
    const last = verdict.type === 'last';
    return executor.happened(cell, { type: 'budget', at: now, text: verdict.text, last });
  }
  cell.flight?.end();
  const charged = verdict.type === 'go' ? verdict.charged : null;
  // What the first request of such a fork adds is little, and known only afterwards.
  const expected =
    cell.agent.usage.input === 0 && cell.asked?.usage.resent !== undefined ? NOTHING : undefined;
  cell.flight = charged && executor.agent_index.in_flight.begin(cell.agent.root_id, charged, expected);
  const outcome =
    verdict.type === 'go'
      ? await ask(cell, controller, context, { insists, used_up: verdict.used_up }, () => {
          began_ms = clock.lap();
        })
      : limitReached(verdict.text);
  // Aborted, replaced, or no longer led here: the answer is dropped.
  if (cell.request !== controller || cell.gone) return;
  withdrawQuestions(cell);
  const at = clock.now();
  const duration_ms = Math.round(clock.lap() - began_ms);
  const answer = await countedAnswer(cell, outcome, context);
  const request = answer && { ...answer, started_at: at - duration_ms, duration_ms };
  if (request === undefined) cell.flight?.end();
  else cell.flight?.used(amountsOf(request.usage));
  if (cell.request !== controller || cell.gone) return;
  if (outcome.type === 'event') {
    cell.request = null;
    return executor.happened(cell, outcome.event, request);
  }
  if (outcome.type === 'failure' && outcome.barred !== undefined) {
    cell.request = null;
    // The try that it would have followed may have ended just now.
    if (!park(cell, outcome.barred, context)) await awaitProvider(cell, null, context);
    return;
  }
  const whole = await eventOrFault(at, cell, outcome, context);
  if (whole?.type === 'response') await holdByHooks(cell, whole, controller.signal, context);
  // Checked again, because saving the worktree and hooks take time.
  if (cell.request !== controller || cell.gone) return;
  cell.request = null;
  cell.said = '';
  if (whole === null) return;
  executor.happened(cell, whole, request);
}

type Outcome = EventOf<'response' | 'request-failed'>;

/** An exception while the answer is read, or the changes of a worktree are saved, ends the turn, not the process. */
async function eventOrFault(
  at: number,
  cell: Cell,
  outcome: ModelOutcome,
  context: RequestContext,
): Promise<Outcome | null> {
  if (outcome.type === 'aborted') return null;
  try {
    const event =
      outcome.type === 'failure' ? failed(at, outcome) : answered(at, cell.agent, outcome, context.catalog);
    return await withChanges(cell, event, context);
  } catch (error) {
    const text = `a fault in Coppice while the answer was processed: ${error instanceof Error ? error.message : String(error)}`;
    return failed(at, { type: 'failure', failure: { kind: 'internal', error: text, retryable: true } });
  }
}

function withChanges({ agent }: Cell, event: Outcome, context: RequestContext): Promise<Outcome> | Outcome {
  if (agent.config.task?.worktree == null) return event;
  const tree = context.executor.agent_index.tree(agent.root_id);
  return context.worktrees.complete(agent, event, context.catalog.contextOf(agent, tree));
}

/** Asks the model, or makes room in its context window first; the event that does so leads to the next request. */
async function ask(
  cell: Cell,
  controller: AbortController,
  context: RequestContext,
  told: Pick<ModelRequest, 'insists' | 'used_up'>,
  onStart: () => void,
): Promise<ModelOutcome | Relieved | Summarised> {
  const { agent, prompt } = cell;
  const { rooms } = context.models;
  let onBegun = () => {};
  const hold = heldRequest(cell, context);
  try {
    const model = await context.models.modelOf(agent);
    const onNotice = (text: string) =>
      context.emit({ type: 'notice', agent_id: agent.id, text, about: 'tools' });
    // Servers may take long to start, and an interrupted turn does not wait for them.
    const preparing = context.catalog.prepare(agent);
    if (preparing !== null)
      for (const notice of await unlessAborted(preparing, controller.signal, () => [])) onNotice(notice);
    const setup = context.catalog.setupFor(agent.config);
    const mode = await awaitTreeMode(agent, context, controller.signal);
    const is_program = isAgentProgram(agent.config.model);
    // Imported on first use: only agent programs need it.
    const late = is_program ? await import('./asking/ask-for-program.ts') : undefined;
    const host = await late?.hostFor(cell, controller, mode, context);
    const system = [setup.system, modeText(mode)].filter((text) => text !== '').join('\n\n');
    // Sent even when no more calls will run: providers refuse a conversation with calls but without tools.
    const { checkpoints, elisions } = prompt.cuts;
    const tree = context.executor.agent_index.tree(agent.root_id);
    const tools = context.catalog.sentTools(agent, tree, checkpoints + elisions > 0);
    const request: ModelRequest = {
      system,
      messages: prompt.messages(),
      tools,
      thinking: agent.config.thinking,
      shared_prefix: prompt.shared,
      cache_key: agent.root_id,
      signal: controller.signal,
      onNotice,
      parks: mayPark(agent, context.executor),
      ...told,
      begins: agent.state.type === 'requesting' && agent.state.turn.requests === 0,
      bars: () => pausedHere(agent, context.executor),
      is_paused: pauseOf(agent.state) !== null,
      onTaken: () => hold('taken'),
      onTried: (doors, still) => followTry(doors, still, context),
      agent: { id: agent.id, name: agent.name, parent_id: agent.parent_id },
      ...(host !== undefined && { host }),
    };
    const sent: Sent = { agent_id: agent.id, model, prompt, overhead: overheadOf(system, tools) };
    const is_compacting = agent.state.type === 'requesting' && agent.state.compacting !== undefined;
    if (is_compacting && !is_program) return await summarise(cell, model, request, sent, hold, context);
    if (!is_program) {
      await rooms.recall(sent, context.store).catch(() => undefined); // a rougher estimate suffices
      const relieved = rooms.relieve(sent, false, context.clock.now());
      if (relieved !== null) return relieved;
    }
    const emit = (delta: ModelDelta) => context.emit({ type: 'delta', agent_id: agent.id, delta });
    if (model.caches_prefixes === true) {
      onBegun = await context.models.siblings.enter(cell, context, controller.signal, emit);
      onStart();
    }
    const asked_at = context.clock.lap();
    const waited = () => Math.round(context.clock.lap() - asked_at);
    let first_ms: number | undefined;
    const onDelta = (delta: ModelDelta): void => {
      if (delta.type === 'restart') first_ms = undefined;
      else if ('text' in delta || delta.type === 'call') {
        onBegun();
        first_ms ??= waited();
      }
      hold(delta);
      if (cell.request === controller) keepText(cell, delta);
      emit(delta);
    };
    const own = await outcomeOfModel(model, request, onDelta);
    const stand_in = isBarred(own) ? await standIn(sent, agent, context.models) : null;
    const outcome = stand_in === null ? own : await outcomeOfModel(stand_in, request, onDelta);
    if (isBarred(outcome)) return own;
    if (stand_in !== null && cell.stand_in !== stand_in.id)
      onNotice(`${stand_in.id} answers in place of ${model.id}`);
    cell.stand_in = stand_in?.id;
    if (stand_in !== null) cell.is_free &&= stand_in.is_free === true;
    if (is_program) return promptOutcome(outcome, controller.signal);
    if (outcome.type === 'answer') {
      rooms.counted(stand_in === null ? sent : { ...sent, model: stand_in }, outcome.usage);
      const response = { ...outcome.content.response, first_ms: first_ms ?? waited() };
      return { ...outcome, content: { ...outcome.content, response } };
    }
    if (outcome.type === 'aborted' || outcome.failure.kind !== 'context_overflow') return outcome;
    rooms.refused(sent, outcome.failure.error);
    return rooms.relieve(sent, true, context.clock.now()) ?? outcome;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const kind = error instanceof CoppiceError && error.code === 'E_NO_PRICE' ? 'limit' : 'no_model';
    return { type: 'failure', failure: { kind, error: message, retryable: true } };
  } finally {
    onBegun();
    hold(null);
  }
}

/** What a model of a program throws, or gives that no reader of outcomes could read, fails the request under the name of the model. */
async function outcomeOfModel(model: Model, ...asked: Parameters<Model['stream']>): Promise<ModelOutcome> {
  const fault = (what: string): ModelOutcome => {
    const error = `the model ${model.id} ${what}`;
    return { type: 'failure', failure: { kind: 'internal', error, retryable: true } };
  };
  let outcome: Partial<ModelOutcome> | undefined;
  try {
    outcome = await model.stream(...asked);
  } catch (thrown) {
    return asked[0].signal.aborted ? { type: 'aborted' } : fault(`threw ${thrown}`);
  }
  if (outcome?.type === 'answer' && Array.isArray(outcome.content?.parts) && outcome.usage !== undefined) {
    const is_unwritten = outcome.content.parts.some(
      (part) => part.type === 'call' && typeof part.input !== 'string',
    );
    return is_unwritten
      ? fault('gave a call whose "input" is not the text of JSON')
      : (outcome as ModelOutcome);
  }
  const is_other =
    outcome?.type === 'aborted' || (outcome?.type === 'failure' && outcome.failure !== undefined);
  return is_other ? (outcome as ModelOutcome) : fault('gave no outcome as the type Model demands');
}

function isBarred(outcome: ModelOutcome): boolean {
  return outcome.type === 'failure' && outcome.barred !== undefined;
}

/** The first of the agent's further models whose provider takes requests, and that can be told its conversation as it is; null if there is none. */
async function standIn(sent: Sent, agent: Agent, models: ModelCache): Promise<Model | null> {
  for (const name of agent.config.fallback ?? []) {
    const model = isAgentProgram(name) ? null : await models.modelFor(agent, name).catch(() => null);
    if (model === null || model.closed?.() === true) continue;
    if (models.rooms.relieve({ ...sent, model }, false, 0) === null) return model;
  }
  return null;
}

function keepText(cell: Cell, delta: ModelDelta): void {
  if (delta.type === 'restart') cell.said = '';
  if (delta.type === 'text') cell.said += delta.text;
}

function failed(
  at: number,
  { failure, partial }: Extract<ModelOutcome, { type: 'failure' }>,
): EventOf<'request-failed'> {
  const kept = { ...failure, error: storable(failure.error) };
  return partial === undefined
    ? { type: 'request-failed', at, failure: kept }
    : { type: 'request-failed', at, failure: kept, partial: storable(partial) };
}

function limitReached(error: string): ModelOutcome {
  return { type: 'failure', failure: { kind: 'limit', error, retryable: true } };
}

/**
 * The usage of an answer, and what of it limits count (docs/budgets.md#tokens-that-count): where a server reports no cache, what the agent's previous request and
 * its answer had sent does not count again. A conversation that has become shorter is new.
 */
async function countedAnswer(
  cell: Cell,
  outcome: ModelOutcome | Relieved | Summarised,
  { models, store }: { readonly models: ModelCache; readonly store: Pick<Store, 'newestRequests'> },
): Promise<Omit<RequestRecord, 'started_at' | 'duration_ms'> | undefined> {
  const answer = outcome.type === 'answer' ? { ...outcome, model: outcome.content.model } : null;
  const said = answer ?? (outcome.type === 'event' ? outcome.request : undefined);
  if (said === undefined) return;
  const { model, usage } = said;
  // An agent that was taken over made its previous request elsewhere. If the ledger cannot be read, all of it counts.
  const { id, usage: used } = cell.agent;
  const is_elsewhere = cell.asked === undefined && used.input + used.output > 0;
  const before = is_elsewhere ? (await store.newestRequests(id, 1).catch(() => []))[0] : cell.asked;
  cell.asked = { model, usage };
  if (usage.resent === undefined) models.reporting.add(model);
  const { input, output, cached } = before?.usage ?? NO_USAGE;
  // Some servers leave out the field where it would be 0.
  const is_new = cached > 0 || models.reporting.has(model) || before?.model !== model || usage.input < input;
  const resent = is_new ? 0 : Math.min(usage.input, input + output);
  return { model, usage: { ...usage, resent }, ...(cell.is_free && { is_free: true }) };
}
