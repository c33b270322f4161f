import type { Agent } from '../../records/agent/agent.ts';
import { type Deeds, withCall, withFiles } from '../../records/agent/deeds.ts';
import { deedsOf } from '../../records/agent/deeds-line.ts';
import { deniedIn } from '../../records/agent/denied.ts';
import { type AgentState, isWorking, restAfterSummary } from '../../records/agent/state.ts';
import type { RequestRecord } from '../step.ts';
import type { Effect } from '../transition/effect.ts';
import type { AgentEvent } from '../transition/event.ts';
import type { View } from './view.ts';

/** One transition of an agent. */
export interface AppliedTransition {
  readonly before: AgentState;
  readonly after: AgentState;
  readonly event: AgentEvent;
  readonly effects: readonly Effect[];
  readonly request: RequestRecord | undefined;
}

/** Returns the state after a transition, with the agent's deeds so far: those of its current turn, or else of its newest one. */
export function countDeeds(
  happening: AppliedTransition,
  agent_id: string,
  { tools, relatives }: View,
): AgentState {
  const { before, after, event } = happening;
  // A summary alone is no turn.
  if (restAfterSummary(before) !== null && !('turn' in after)) return after;
  // A new turn counts from the beginning, unless it retries a failed one.
  const begins = 'turn' in after && !('turn' in before) && event.type !== 'retry';
  const last = 'turn' in before ? before.turn.deeds : before.deeds;
  const is_mail = event.type === 'input' && event.content.origin !== 'human';
  const known = !begins ? last : is_mail ? deniedBefore(last) : undefined;
  const deeds = counted(known ?? {}, happening, tools);
  if ('turn' in after)
    return deeds === after.turn.deeds || Object.keys(deeds).length === 0
      ? after
      : { ...after, turn: { ...after.turn, deeds } };
  if (!('turn' in before))
    return known === undefined || after === before ? after : { ...after, deeds: known };
  const { started_at: since, began_at = since } = before.turn;
  const owing =
    deeds.children === undefined
      ? []
      : relatives.children(agent_id).filter((one) => one.created_at >= began_at && owesAnswer(one));
  const unanswered = owing.length === 0 ? {} : { unanswered: owing.length };
  // Only a root has members.
  const has_below = deeds.children !== undefined || deeds.denied_below !== undefined;
  const below = has_below ? relatives.members(agent_id) : [];
  const denied = deniedIn(...below.map(({ id, state }) => (id === agent_id ? [] : deedsOf(state)?.denied)));
  const denied_below = denied.length === 0 ? {} : { denied_below: denied };
  const took_ms = Math.max(0, event.at - since);
  return { ...after, deeds: { ...deeds, ...denied_below, ...unanswered, took_ms } };
}

/** What a turn that mail begins still tells of the one before: its denied calls, and those of the children that it made. */
function deniedBefore({ denied, denied_below, children }: Deeds = {}): Deeds {
  const below = denied_below ?? (children === undefined ? undefined : []);
  return { ...(denied && { denied }), ...(below && { denied_below: below }) };
}

function counted(known: Deeds, { event, effects, request }: AppliedTransition, tools: View['tools']): Deeds {
  let deeds = known;
  const deed = event.type === 'call-settled' ? event.deed : undefined;
  for (const effect of effects) {
    if (effect.type === 'create-agents' && event.type !== 'branch')
      deeds = { ...deeds, children: (deeds.children ?? 0) + effect.agents.length };
    if (effect.type !== 'append' || effect.message.kind !== 'result') continue;
    const { name, status, call_id } = effect.message.content;
    const own = event.type === 'call-settled' && event.result.call_id === call_id;
    if (status === 'denied') {
      const why = event.type === 'ask-answered' ? { why: `by ${event.by}` } : deed?.denied;
      deeds = { ...deeds, denied: deniedIn(deeds.denied, [{ tool: name, calls: 1, ...why }]) };
    }
    // Calls of toolsets do not count: they are for working with other agents.
    if (!tools.has(name) && !(own && deed?.is_unknown))
      deeds = withCall(deeds, name, status === 'ok', own ? deed : undefined);
  }
  if (event.type === 'response' || event.type === 'request-failed')
    deeds = event.changed === undefined ? deeds : withFiles(deeds, event.changed);
  if (request === undefined) return deeds;
  const { input, output } = request.usage;
  return { ...deeds, tokens: (deeds.tokens ?? 0) + input + output };
}

/** Whether the agent works and has sent its parent nothing in this turn; not for background runs, whose end is announced later. */
function owesAnswer({ state, origin, sent_this_turn }: Agent): boolean {
  return origin !== 'session' && isWorking(state.type) && !sent_this_turn;
}
