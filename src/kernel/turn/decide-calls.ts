import type { PlannedAgents } from '../../records/agent/estimate.ts';
import { type Call, isApproved } from '../../records/agent/state.ts';
import { RULE_BREAK } from '../../records/conversation/ask.ts';
import { SAID_MAX } from '../../records/conversation/facts/message-facts.ts';
import { isParked } from '../../records/conversation/parked.ts';
import type { NewAgent } from '../../records/run/new-agent.ts';
import { cutText } from '../../records/text/cut-text.ts';
import { storableJson } from '../../records/text/json-text.ts';
import { storable } from '../../records/text/text.ts';
import { argumentsError } from '../reading/call-errors.ts';
import { bringsSchema } from '../toolsets/output-schema.ts';
import { creationKey, type Decision, needKey, refusalText, type ToolsetTool } from '../toolsets/toolset.ts';
import type { Consequence } from '../transition/event.ts';
import type { Draft } from './draft.ts';
import { hear } from './take-mail.ts';
import { toolsetView } from './toolset-view.ts';
import type { Arguments, View } from './view.ts';
import { endOrPark } from './waits.ts';

/** Decides the started calls of toolsets: each settles, parks, or is deferred until the ledger or the outside world has been consulted. */
export function decideCalls(draft: Draft): void {
  // Settling a call may start queued ones.
  for (let call = draft.calls.next(); call !== undefined; call = draft.calls.next()) {
    try {
      decideCall(call, draft);
    } catch (error) {
      // A fault before the decision fails the call; after it, the turn.
      if (!isOpen(call, draft)) throw error;
      refuse(draft, call, 'INTERNAL', `${call.name} failed inside Coppice: ${faultText(error)}`);
    }
  }
}

/** The text of a thrown value, which may be anything, even a value that cannot be converted to text. */
export function faultText(error: unknown): string {
  try {
    return error instanceof Error ? error.message : String(error);
  } catch {
    return 'an error that cannot be converted to text';
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
  const parsed = storableArguments(view, call);
  if (!parsed.ok)
    return refuse(draft, call, 'INVALID_ARG', argumentsError(view.sent(tool.spec), parsed.error, {}));
  const { input } = parsed;
  // Agents that this step creates or kills are not committed yet: calls that look at the tree wait for that.
  const creates = typeof tool.creates === 'function' ? tool.creates(input) : tool.creates === true;
  if (draft.parts.kill.length > 0 || (draft.parts.create.length > 0 && !creates)) return calls.defer(call);
  if (bringsSchema(input) && !calls.mayReadSchema()) return calls.defer(call);
  if (tool.comes_last === true && calls.deferred.length > 0) return calls.defer(call, { last: true });
  const is_surveyed = led.surveyed.has(call.id);
  const look_up = unknownNames(tool, input, draft);
  // What is known of agents that other processes lead may be stale.
  const looks_at_others = tool.surveys === true || (tool.mentions?.(input) ?? []).length > 0;
  const survey = view.shared && !creates && !is_surveyed && looks_at_others;
  const open = (tool.needs?.(input, call, led.agent, view.terms) ?? []).filter(
    (need) => !led.answers.has(needKey(need)),
  );
  const needs = open.filter((need) => need.type !== 'worktree');
  if (survey || look_up.length > 0 || needs.length > 0) return calls.defer(call, { look_up, needs, survey });
  const decision = tool.decode(input, call, toolsetView(draft, state.seq));
  // An agent that another process leads may have ended and freed a place.
  if (isFull(decision) && view.shared && !is_surveyed) return calls.defer(call, { survey: true });
  if (!mayCreate(decision, call, draft)) return;
  // Decided as if its worktrees existed: they are made only for calls that would be admitted.
  if (decision.type !== 'refuse' && open.length > 0) return calls.defer(call, { needs: open });
  useAnswers(call, decision.type !== 'refuse', draft);
  follow(decision, call, draft);
}

/** The arguments as the ledger can store them: an escape in JSON may stand for what it cannot. */
function storableArguments(view: View, call: Call): Arguments {
  const parsed = view.argumentsOf(call);
  return parsed.ok && call.input.includes('\\u') ? { ok: true, input: storableJson(parsed.input) } : parsed;
}

function isFull(decision: Decision): boolean {
  return decision.type === 'refuse' && decision.code === 'LIMIT_REACHED';
}

/** Drops the answers of a call that is decided or was stopped; its worktrees are unused unless it is admitted. */
function useAnswers(call: Call, is_admitted: boolean, { led, view, calls }: Draft): void {
  if (led.answers.has(creationKey(call))) calls.useAnswer(creationKey(call));
  const parsed = storableArguments(view, call);
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
      const { output, consequences, spawned, said, refused } = decision;
      const created = createdBy(consequences).map(({ agent }) => agent.id);
      const facts =
        refused !== undefined ? { facts: { refused } } : created.length > 0 ? { facts: { created } } : {};
      const result = { call_id: call.id, name: call.name, status: 'ok' as const, output, ...facts };
      draft.apply({ type: 'call-settled', at, result, consequences, ...(spawned && { spawned }) });
      if (said !== undefined) hear(draft, 'a task', draft.led.agent.name, said);
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

/** Whether rules let the call create its agents. If not, it has been denied, parked with a question, or deferred until granted rules are looked up. */
function mayCreate(decision: Decision, call: Call, draft: Draft): boolean {
  const { led, view, calls, state } = draft;
  const ruling = view.rulingOn(call.name);
  const planned = ruling === null ? [] : plannedBy(decision);
  if (ruling === null || planned.length === 0) return true;
  const deny = (why: string): false => {
    useAnswers(call, false, draft);
    end(draft, call, 'denied', why);
    return false;
  };
  if (ruling.type === 'deny') return deny(ruling.why);
  if (isApproved(state, call.id)) return true;
  const need = { type: 'creation' as const, call: { id: call.id, name: call.name }, planned };
  const answer = led.answers.get(needKey(need));
  if (answer === undefined) {
    calls.defer(call, { needs: [need] });
    return false;
  }
  if (!answer.ok) return deny(answer.error);
  if (answer.text === '') return true;
  // What was looked up for the call may be stale when a person answers.
  useAnswers(call, false, draft);
  const { id: agent_id, root_id, name: agent_name, config } = led.agent;
  const ask = {
    ...{ id: draft.newId(), root_id, agent_id, agent_name, call_id: call.id, tool: call.name },
    ...{ subject: answer.text, subject_kind: 'agents' as const, input: call.input, difference: null },
    ...{ cwd: config.cwd, rule: ruling.rules.join(RULE_BREAK), asked_at: view.now },
  };
  draft.apply({ type: 'call-asked', at: view.now, ask });
  return false;
}

/** The agents that a decision creates, by profile and model. */
function plannedBy(decision: Decision): readonly PlannedAgents[] {
  if (decision.type !== 'settle' && decision.type !== 'delegate') return [];
  const planned = new Map<string, PlannedAgents>();
  for (const { agent } of createdBy(decision.consequences)) {
    const { profile = null, model } = agent.config;
    const key = `${profile} ${model}`;
    planned.set(key, { profile, model, count: (planned.get(key)?.count ?? 0) + 1 });
  }
  return [...planned.values()];
}

export function createdBy(consequences: readonly Consequence[]): NewAgent[] {
  return consequences.flatMap((one) => (one.type === 'create-agents' ? one.agents : []));
}

function refuse(draft: Draft, call: Call, ...[code, message]: Parameters<typeof refusalText>): void {
  const named =
    code === 'INTERNAL' || message.startsWith(`${call.name}: `) ? message : `${call.name}: ${message}`;
  end(draft, call, 'error', refusalText(code, named), message);
}

function end(draft: Draft, call: Call, status: 'error' | 'denied', text: string, refused = text): void {
  const facts = { refused: storable(cutText(refused, SAID_MAX)) };
  draft.apply({
    type: 'call-settled',
    at: draft.view.now,
    result: { call_id: call.id, name: call.name, status, output: storable(text), facts },
  });
}

function unknownNames(tool: ToolsetTool, input: unknown, { led, view }: Draft): string[] {
  return (tool.mentions?.(input) ?? [])
    .filter((text) => text !== '' && !led.looked_up.has(text))
    .filter((text) => view.relatives.resolve(text, led.agent.root_id).found === 'none');
}
