import type { AgentEvent } from '../../core/event.ts';
import type { Failure } from '../../core/failure.ts';
import type { ResultStatus } from '../../core/message.ts';
import { type Call, isTerminal, type RunningCall } from '../../core/state.ts';
import { storable } from '../../core/text.ts';
import { isAnswered } from '../../core/wait.ts';
import { needKey } from '../../toolsets/need.ts';
import { bringsSchema } from '../../toolsets/output-schema.ts';
import { type Decision, refusalText, type ToolsetTool } from '../../toolsets/toolset.ts';

import { reportToParent } from './completion-letter.ts';
import { Draft } from './draft.ts';
import type { Input, LedAgent } from './led-agent.ts';
import { parseCallInput } from './parse-call-input.ts';
import { takeMail, takeOrders, takeOutcomes } from './take-mail.ts';
import { endTreeOfRun, tellOutside } from './tell-outside.ts';
import { viewOf } from './toolset-view.ts';
import type { View } from './view.ts';
import { cancel, endHumanWait, endWaits, isLetter, settleWait, waitView } from './waits.ts';

/**
 * Folds everything that waits at one agent into one draft: events in order, then the calls of toolsets that these
 * started, then waits that may end, then mail. Pure but for `newId`; the cell is not changed.
 * Never throws: a fault ends what this agent is at, and the others of the round get their step.
 */
export function advance(cell: LedAgent, inputs: readonly Input[], around: View): Draft {
  try {
    return folded(cell, inputs, around);
  } catch (error) {
    return foldFault(cell, around, error);
  }
}

function folded(cell: LedAgent, inputs: readonly Input[], around: View): Draft {
  const draft = newDraft(cell, around);
  if (inputs.length > 0) takeOutcomes(draft, cell, around);
  for (const input of inputs) {
    if (input.type === 'toolset-call') draft.toolset_calls.push(input.call);
    else if (input.event.type === 'cancel') cancel(draft, cell, around, input.event);
    else draft.apply(input.event, input.request);
    decodeCalls(draft, cell, around);
  }
  takeOrders(draft, cell, around);
  decodeCalls(draft, cell, around);
  endWaits(draft, cell, around);
  endHumanWait(draft, cell, around);
  decodeCalls(draft, cell, around);
  takeMail(draft, cell, around);
  reportToParent(draft, cell, around);
  tellOutside(draft, around);
  endTreeOfRun(draft, around);
  return draft;
}

function newDraft(cell: LedAgent, around: View): Draft {
  return new Draft(
    cell.agent,
    cell.prompt,
    around.context,
    (call) => around.toolsetTool(call.name) !== undefined,
    around.newId,
    (id) => !isTerminal(around.forest.agent(id)?.state.type ?? 'idle'),
  );
}

/** Instead of a step that threw: whatever the agent was at ends, and whoever awaits it is told. */
function foldFault(cell: LedAgent, around: View, error: unknown): Draft {
  const draft = newDraft(cell, around);
  const text = `a fault in Coppice ended this turn: ${messageOf(error)}`;
  const failure: Failure = { kind: 'internal', error: storable(text), retryable: true };
  draft.apply({ type: 'fault', at: around.now, failure });
  reportToParent(draft, cell, around);
  tellOutside(draft, around);
  endTreeOfRun(draft, around);
  return draft;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function decodeCalls(draft: Draft, cell: LedAgent, around: View): void {
  // A settled call may start queued ones, so the list grows while it is walked.
  for (let call = takeNext(draft, around); call !== undefined; call = takeNext(draft, around)) {
    try {
      decodeCall(call, draft, cell, around);
    } catch (error) {
      const { state } = draft;
      // What throws before the call is decided is the call's own failure, anything else the agent's.
      if (state.type !== 'executing' || !state.running.some((running) => isStarted(running, call)))
        throw error;
      const text = `${call.name} failed inside Coppice: ${messageOf(error)}`;
      settle(draft, call, 'error', refusalText('INTERNAL', text), around);
    }
  }
}

function takeNext({ toolset_calls }: Draft, around: View): Call | undefined {
  const at = toolset_calls.findIndex(({ name }) => around.toolsetTool(name)?.comes_last !== true);
  return toolset_calls.splice(Math.max(at, 0), 1)[0];
}

/** Running, and not parked yet. */
function isStarted({ call, wait, child, ask }: RunningCall, wanted: Call): boolean {
  return call.id === wanted.id && wait === undefined && child === undefined && ask === undefined;
}

function decodeCall(call: Call, draft: Draft, cell: LedAgent, around: View): void {
  const { state } = draft;
  if (state.type !== 'executing' || !state.running.some((running) => isStarted(running, call)))
    return useAnswers(call, false, draft, cell, around);
  const override = cell.overrides.get(call.id);
  if (override !== undefined)
    return settle(draft, call, 'error', refusalText(override.code, override.message), around);
  const tool = around.toolsetTool(call.name) as ToolsetTool;
  const parsed = parseCallInput(call);
  if (!parsed.ok) return settle(draft, call, 'error', refusalText('INVALID_ARG', parsed.error), around);
  // What this step creates or kills is not true yet: calls that look at the tree come after its commit.
  const creates = typeof tool.creates === 'function' ? tool.creates(parsed.input) : tool.creates;
  if (draft.kill.length > 0 || (draft.create.length > 0 && !creates)) {
    draft.deferred.push({ call, look_up: [], needs: [], survey: false });
    return;
  }
  // Reading a schema takes a while: one call with schemas a step, so that everything else gets its turn.
  if (bringsSchema(parsed.input)) {
    if (draft.read_schema) {
      draft.deferred.push({ call, look_up: [], needs: [], survey: false });
      return;
    }
    draft.read_schema = true;
  }
  if (tool.comes_last === true && draft.deferred.length > 0) {
    draft.deferred.push({ call, look_up: [], needs: [], survey: false, last: true });
    return;
  }
  const look_up = unknownNames(tool, parsed.input, cell, around);
  // Agents that others lead: what was heard of them grows old.
  const survey =
    around.shared && !creates && !cell.surveyed.has(call.id) && looksAtOthers(tool, parsed.input);
  const open = (tool.needs?.(parsed.input, call, draft.before, around.terms) ?? []).filter(
    (need) => !cell.answers.has(needKey(need)),
  );
  const needs = open.filter((need) => need.type !== 'worktree');
  if (survey || look_up.length > 0 || needs.length > 0) {
    draft.deferred.push({ call, look_up, needs, survey });
    return;
  }
  const decision = tool.decode(parsed.input, call, viewOf(draft, cell, state.seq, around));
  // Somebody who is led elsewhere may rest by now, and so leave a place.
  if (isFull(decision) && around.shared && !cell.surveyed.has(call.id)) {
    draft.deferred.push({ call, look_up: [], needs: [], survey: true });
    return;
  }
  // So far it was decided as if its worktrees were there: only those of a call that would be admitted are made.
  if (decision.type !== 'refuse' && open.length > 0) {
    draft.deferred.push({ call, look_up: [], needs: open, survey: false });
    return;
  }
  useAnswers(call, decision.type !== 'refuse', draft, cell, around);
  decide(decision, call, draft, cell, around);
}

function isFull(decision: Decision): boolean {
  return decision.type === 'refuse' && decision.code === 'LIMIT_REACHED';
}

/** The call is decided, or was stopped meanwhile: unless it is admitted, nothing of what was made for it is left behind. */
function useAnswers(call: Call, admitted: boolean, draft: Draft, cell: LedAgent, around: View): void {
  const parsed = parseCallInput(call);
  if (!parsed.ok) return;
  const tool = around.toolsetTool(call.name);
  for (const need of tool?.needs?.(parsed.input, call, draft.before, around.terms) ?? []) {
    const key = needKey(need);
    const answer = cell.answers.get(key);
    draft.answered.push(key);
    if (!admitted && answer?.ok === true && answer.worktree !== undefined) draft.unused.push(answer.worktree);
  }
}

function decide(decision: Decision, call: Call, draft: Draft, cell: LedAgent, around: View): void {
  switch (decision.type) {
    case 'refuse':
      return settle(draft, call, 'error', refusalText(decision.code, decision.message), around);
    case 'settle': {
      const event: AgentEvent = {
        type: 'call-settled',
        at: around.now,
        result: { call_id: call.id, name: call.name, status: 'ok', output: decision.output },
        consequences: decision.consequences,
        spawned: decision.spawned ?? [],
      };
      draft.apply(event);
      return;
    }
    case 'delegate': {
      const { child, consequences } = decision;
      draft.apply({ type: 'call-delegated', at: around.now, call_id: call.id, child, consequences });
      return;
    }
    case 'park': {
      const view = waitView(draft, cell, around);
      const { wait } = decision;
      // Nothing to wait for: the call never parks.
      const answered =
        wait.from === null ? view.inbox.some(isLetter) : wait.from.every((id) => isAnswered(id, view));
      if (answered || wait.deadline <= around.now)
        return settleWait({ call, wait }, draft, view, answered ? null : 'timeout', around);
      draft.apply({ type: 'call-parked', at: around.now, call_id: call.id, wait });
      if (wait.from !== null) draft.parked.push({ call_id: call.id, from: wait.from });
      return;
    }
  }
}

function settle(draft: Draft, call: Call, status: ResultStatus, output: string, around: View): void {
  draft.apply({
    type: 'call-settled',
    at: around.now,
    result: { call_id: call.id, name: call.name, status, output: storable(output) },
    consequences: [],
    spawned: [],
  });
}

function unknownNames(tool: ToolsetTool, input: unknown, cell: LedAgent, around: View): string[] {
  return tool
    .mentions(input)
    .filter((text) => text !== '' && !cell.looked_up.has(text))
    .filter((text) => around.forest.resolve(text, cell.agent.root_id).found === 'none');
}

function looksAtOthers(tool: ToolsetTool, input: unknown): boolean {
  return tool.surveys || tool.mentions(input).length > 0;
}
