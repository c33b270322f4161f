import type { Call } from '../../records/agent/state.ts';
import { isParked } from '../../records/conversation/parked.ts';
import { storable } from '../../records/text/text.ts';
import { bringsSchema } from '../toolsets/output-schema.ts';
import { type Decision, needKey, refusalText, type ToolsetTool } from '../toolsets/toolset.ts';
import type { Draft } from './draft.ts';
import { toolsetView } from './toolset-view.ts';
import { endOrPark } from './waits.ts';

/** Decides the calls of toolsets that were started: each settles, parks, or is put off until the ledger or the world was looked at. */
export function decideCalls(draft: Draft): void {
  // A settled call may start queued ones, so there may be more of them after each.
  for (let call = draft.calls.next(); call !== undefined; call = draft.calls.next()) {
    try {
      decideCall(call, draft);
    } catch (error) {
      // What throws before the call is decided is the call's own failure, anything else the agent's.
      if (!isOpen(call, draft)) throw error;
      refuse(draft, call, 'INTERNAL', `${call.name} failed inside Coppice: ${faultText(error)}`);
    }
  }
}

/** Anything may be thrown, also what cannot be put into words. */
export function faultText(error: unknown): string {
  try {
    return error instanceof Error ? error.message : String(error);
  } catch {
    return 'an error that cannot be told';
  }
}

function isOpen({ id }: Call, { state }: Draft): boolean {
  return state.type === 'executing' && state.running.some((one) => one.call.id === id && !isParked(one));
}

function decideCall(call: Call, draft: Draft): void {
  const { led, view, calls, state } = draft;
  if (state.type !== 'executing' || !isOpen(call, draft)) return useAnswers(call, false, draft);
  const override = led.overrides.get(call.id);
  if (override !== undefined) return refuse(draft, call, override.code, override.message);
  const tool = view.tools.get(call.name) as ToolsetTool;
  const parsed = view.argumentsOf(call);
  if (!parsed.ok) return refuse(draft, call, 'INVALID_ARG', parsed.error);
  const { input } = parsed;
  // What this step creates or kills is not true yet: calls that look at the tree come after its commit.
  const creates = typeof tool.creates === 'function' ? tool.creates(input) : tool.creates;
  if (draft.kills || (draft.created > 0 && !creates)) return calls.defer(call);
  if (bringsSchema(input) && !calls.mayReadSchema()) return calls.defer(call);
  if (tool.comes_last === true && calls.deferred.length > 0) return calls.defer(call, { last: true });
  const is_surveyed = led.surveyed.has(call.id);
  const look_up = unknownNames(tool, input, draft);
  // Agents that others lead: what was heard of them grows old.
  const survey = view.shared && !creates && !is_surveyed && looksAtOthers(tool, input);
  const open = (tool.needs?.(input, call, led.agent, view.terms) ?? []).filter(
    (need) => !led.answers.has(needKey(need)),
  );
  const needs = open.filter((need) => need.type !== 'worktree');
  if (survey || look_up.length > 0 || needs.length > 0) return calls.defer(call, { look_up, needs, survey });
  const decision = tool.decode(input, call, toolsetView(draft, state.seq));
  // Somebody who is led elsewhere may rest by now, and so leave a place.
  if (isFull(decision) && view.shared && !is_surveyed) return calls.defer(call, { survey: true });
  // So far it was decided as if its worktrees were there: only those of a call that would be admitted are made.
  if (decision.type !== 'refuse' && open.length > 0) return calls.defer(call, { needs: open });
  useAnswers(call, decision.type !== 'refuse', draft);
  follow(decision, call, draft);
}

function isFull(decision: Decision): boolean {
  return decision.type === 'refuse' && decision.code === 'LIMIT_REACHED';
}

/** The call is decided, or was stopped meanwhile: unless it is admitted, nothing of what was made for it is left behind. */
function useAnswers(call: Call, is_admitted: boolean, { led, view, calls }: Draft): void {
  const parsed = view.argumentsOf(call);
  if (!parsed.ok) return;
  for (const need of view.tools.get(call.name)?.needs?.(parsed.input, call, led.agent, view.terms) ?? []) {
    const key = needKey(need);
    const answer = led.answers.get(key);
    calls.useAnswer(key, !is_admitted && answer?.ok === true ? answer.worktree : undefined);
  }
}

function follow(decision: Decision, call: Call, draft: Draft): void {
  const at = draft.view.now;
  switch (decision.type) {
    case 'refuse':
      return refuse(draft, call, decision.code, decision.message);
    case 'settle': {
      const { output, consequences, spawned = [] } = decision;
      const result = { call_id: call.id, name: call.name, status: 'ok' as const, output };
      draft.apply({ type: 'call-settled', at, result, consequences, spawned });
      return;
    }
    case 'delegate': {
      const { child, consequences } = decision;
      draft.apply({ type: 'call-delegated', at, call_id: call.id, child, consequences });
      return;
    }
    case 'park':
      return endOrPark({ call, wait: decision.wait }, draft);
  }
}

function refuse(draft: Draft, call: Call, ...[code, message]: Parameters<typeof refusalText>): void {
  const output = storable(refusalText(code, message));
  draft.apply({
    type: 'call-settled',
    at: draft.view.now,
    result: { call_id: call.id, name: call.name, status: 'error', output },
    consequences: [],
    spawned: [],
  });
}

function unknownNames(tool: ToolsetTool, input: unknown, { led, view }: Draft): string[] {
  return tool
    .mentions(input)
    .filter((text) => text !== '' && !led.looked_up.has(text))
    .filter((text) => view.relatives.resolve(text, led.agent.root_id).found === 'none');
}

function looksAtOthers(tool: ToolsetTool, input: unknown): boolean {
  return tool.surveys || tool.mentions(input).length > 0;
}
