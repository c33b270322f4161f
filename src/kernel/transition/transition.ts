import type { PermissionMode } from '../../records/agent/agent.ts';
import {
  type AgentState,
  type Call,
  type ChildOutcome,
  type Executing,
  isResting,
  isTerminal,
  newTurn,
  restAfterSummary,
} from '../../records/agent/state.ts';
import { resultText, withPartial } from '../../records/conversation/child-text.ts';
import type { ResultContent } from '../../records/conversation/message.ts';
import { laterTurn, unpaused } from '../../records/conversation/parked.ts';
import { endWord, nameOf } from '../../records/run/outcome.ts';
import { appendEvent, appendUser } from './append.ts';
import { askAnswered, asked, programAnswered, programAsked, questionWithdrawn, withdrawn } from './asking.ts';
import { parked, settled } from './calls.ts';
import type { AgentEvent, EventOf } from './event.ts';
import { childResult } from './fan-in.ts';
import { humanWait, waitEnded } from './human-wait.ts';
import { halted, pauseTold, pausing } from './pausing.ts';
import { budgetTold, endRestingSummary, makeRoom, nextRequest } from './request.ts';
import { answered } from './response.ts';
import { clockMoved, resumed } from './resuming.ts';
import { cancelled, faulted, limitReached } from './stopping.ts';
import { invalid, step, type Transition, type TransitionContext } from './transition-result.ts';
import { endInFailure } from './turn-end.ts';

export type { InvalidTransition, Transition, TransitionContext } from './transition-result.ts';

/**
 * The state machine of one agent: `transition(state, event, context) → { state, effects }`. Pure and total: it never throws,
 * reads no clock and creates no ids; an event that the state does not admit returns an `InvalidTransition`.
 *
 * Laws kept in this folder (the ledger keeps the others, docs/ledger.md):
 *  1. Conservation: pending + results is constant in a fan-in; running + queued + results = calls in a turn.
 *  2. Monotonicity: pending only shrinks, results only grow.
 *  3. Terminal states admit no event.
 *  4. A result from an unknown agent, or a second one from the same agent, is rejected.
 *  5. Every call of an assistant message gets exactly one result before the next model request.
 * 12. Same state and events, same effects.
 */
export function transition(state: AgentState, event: AgentEvent, context: TransitionContext): Transition {
  return withdrawn(state, event, move(state, event, context));
}

function move(state: AgentState, event: AgentEvent, context: TransitionContext): Transition {
  // Law 3.
  if (isTerminal(state.type)) return invalid(state, event, 'the agent has ended');
  const rest = restAfterSummary(state);
  const rested = rest === null ? null : endRestingSummary(rest, event);
  if (rested !== null) return rested;
  switch (event.type) {
    case 'input':
      if (!isResting(state.type)) return invalid(state, event, 'the agent is at work');
      return nextRequest(newTurn(event.at), [appendUser(event.content)], context);
    case 'steer':
      if (state.type !== 'requesting') return invalid(state, event, 'no request is about to start');
      return step(state, [appendUser(event.content)]);
    case 'response':
    case 'request-failed':
    case 'held':
      if (state.type !== 'requesting') return invalid(state, event, 'no request is in flight');
      if (event.type === 'response') return answered(unpaused(state, event.at).turn, event, context);
      if (event.type === 'held') {
        const since = state.held?.asked_at;
        const next =
          since === undefined ? state : { ...state, turn: laterTurn(state.turn, event.at - since) };
        return step({ ...(event.taken ? unpaused(next, event.at) : next), held: event.held }, []);
      }
      return endInFailure(event.failure, [], context, {
        appendix: event.appendix,
        unfinished: event.partial,
      });
    case 'paused':
    case 'reopen':
    case 'model':
    case 'retry':
    case 'go-on':
      return pausing(state, event);
    case 'run-paused':
      return step(state, [{ type: 'set-paused', paused: event.paused }, pauseTold(event.paused)]);
    case 'halt':
      return halted(state, event, context);
    case 'call-settled':
    case 'call-parked':
    case 'call-delegated':
      if (state.type !== 'executing') return invalid(state, event, 'no call is running');
      if (event.type === 'call-settled') return settled(state, event, context);
      return event.type === 'call-parked' ? parked(state, event) : delegated(state, event);
    case 'call-asked':
    case 'ask-answered': {
      const is_question = event.type === 'call-asked';
      if (state.type === 'requesting')
        return is_question ? programAsked(state, event) : programAnswered(state, event);
      if (state.type !== 'executing') return invalid(state, event, 'no call is running');
      return is_question ? asked(state, event) : askAnswered(state, event, context);
    }
    case 'question-withdrawn':
      return questionWithdrawn(state, event);
    case 'capture':
      return step(state, [{ type: 'append', message: { kind: 'capture', content: event.content } }]);
    case 'branch':
      return step(state, [
        { type: 'create-agents', agents: event.agents },
        appendEvent('forked', event.text),
      ]);
    case 'human-wait':
      return humanWait(state, event, context);
    case 'wait-ended':
      return state.type === 'waiting' ? waitEnded(state, event) : invalid(state, event, 'nobody waits');
    case 'child-result':
      return childDone(state, event, context);
    case 'cancel':
      return cancelled(state, event, context);
    case 'kill':
      return step({ type: 'killed', by: event.by }, [{ type: 'abort' }]);
    case 'workflows':
      return step(state, [
        { type: 'add-workflows' },
        appendEvent('notice', 'has the tool workflow from now on'),
      ]);
    case 'mode':
      return step(state, [
        { type: 'set-mode', mode: event.mode },
        appendEvent('notice', MODE_TEXTS[event.mode]),
      ]);
    case 'elide':
    case 'summarise':
    case 'summarised':
    case 'compact':
      return makeRoom(state, event);
    case 'limit':
      return limitReached(state, event, context);
    case 'budget':
      return state.type === 'requesting'
        ? budgetTold(state, event, context)
        : invalid(state, event, 'no request is about to start');
    case 'warn':
      return step(state, [appendEvent('notice', event.text, { about: 'limit' })]);
    case 'clock-moved':
      return clockMoved(state, event.by_ms);
    case 'fault':
      return faulted(state, event, context);
    case 'resume':
      return resumed(state, event, context);
  }
}

const MODE_TEXTS: Readonly<Record<PermissionMode, string>> = {
  ask: 'asks about changes from now on',
  accept: 'edits files without asking from now on',
  plan: 'only plans from now on: nothing may be changed',
};

/** Parks the call until its child's outcome settles it. */
function delegated(state: Executing, event: EventOf<'call-delegated'>): Transition {
  const { call_id, child, consequences } = event;
  const open = state.running.find((running) => running.call.id === call_id);
  if (open === undefined || open.wait !== undefined || open.child !== undefined)
    return invalid(state, event, `call ${call_id} is not running`);
  if (state.running.some((one) => one.child === child))
    return invalid(state, event, `agent ${child} is awaited already`);
  const running = state.running.map((one) => (one === open ? { ...one, child } : one));
  return step({ ...state, running }, consequences);
}

/** Routes a child's outcome to the call that delegated to it, or to the fan-in. */
function childDone(
  state: AgentState,
  event: EventOf<'child-result'>,
  context: TransitionContext,
): Transition {
  if (state.type !== 'executing') return childResult(state, event, context);
  const call = state.running.find((running) => running.child === event.child.agent_id)?.call;
  return call === undefined
    ? childResult(state, event, context)
    : delegatedResult(state, event, call, context);
}

/** The outcome of a delegated task becomes the result of the delegating call. */
function delegatedResult(
  state: Executing,
  event: EventOf<'child-result'>,
  call: Call,
  context: TransitionContext,
): Transition {
  const { outcome, did = 'nothing' } = event.child;
  const done = outcome.type === 'success';
  const result: ResultContent = {
    call_id: call.id,
    name: call.name,
    status: done ? 'ok' : 'error',
    output: done ? resultText(outcome.result, outcome.limit) : failureText(outcome),
    did,
  };
  return settled(state, { type: 'call-settled', at: event.at, result }, context);
}

function failureText({ error, error_kind, partial }: Extract<ChildOutcome, { type: 'failure' }>): string {
  const word = endWord(error_kind);
  const was = word === 'cut_short' || word === 'stopped' ? 'was ' : '';
  return withPartial(`the sub-agent ${was}${nameOf(word)} (${error_kind}): ${error}`, partial ?? '');
}
