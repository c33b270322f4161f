import { type Call, isTerminal, type WaitSpec } from '../../records/agent/state.ts';
import { PERSON, type WaitCut } from '../../records/conversation/facts/wait-row.ts';
import type { WorkflowNews } from '../../records/conversation/facts/workflow-wait.ts';
import { isLetter, type Mail } from '../../records/conversation/mail.ts';
import type { ResultContent } from '../../records/conversation/message.ts';
import {
  endWait,
  isAnswered,
  isNeeded,
  nobodyWorks,
  type WaitView,
  waitResult,
} from '../../records/conversation/wait.ts';
import { readChildResult, unreadable } from '../mailbox/read-mail.ts';
import type { EventOf } from '../transition/event.ts';
import { HUMAN_WAIT } from '../transition/human-wait.ts';
import type { Draft } from './draft.ts';
import { saidSoFar } from './led-agent.ts';
import { firstId, hear, waitedFor } from './take-mail.ts';

export const NO_CURSORS: ReadonlyMap<string, number> = new Map();

interface Parked {
  readonly call: Call;
  readonly wait: WaitSpec;
}

export function waitView(draft: Draft): WaitView {
  const { led, view, mail } = draft;
  const inbox = mail.left;
  const { id: self, root_id } = led.agent;
  return {
    ...{ now: view.now, self, inbox, members: () => view.relatives.members(root_id) },
    agent: (id) => view.relatives.agent(id),
    hasMail: (agent, from_id) =>
      view.hasMail(agent, from_id) || ((from_id ?? self) === self && draft.wakes(agent)),
    hasRun: ({ id }) =>
      view.relatives.children(id).some((one) => one.origin === 'session' && !isTerminal(one.state.type)),
    hasLetterFrom: mail.isUntouched
      ? (id) => led.inbox.hasLetterFrom(id)
      : (id) => inbox.some(({ kind, from_id }) => kind === 'letter' && from_id === id),
  };
}

function parkedCalls({ state }: Draft): Parked[] {
  if (state.type !== 'executing') return [];
  return state.running.flatMap(({ call, wait }) => (wait === undefined ? [] : [{ call, wait }]));
}

/** Ends the waits of calls that may end; returns the cursors of the others (`LedAgent.wait_cursors`). */
export function endWaits(draft: Draft): ReadonlyMap<string, number> {
  const { led, view } = draft;
  const cursors: [string, number][] = [];
  for (const parked of parkedCalls(draft)) {
    const { call, wait } = parked;
    const now = waitView(draft);
    const { from } = wait;
    if (wait.runs) {
      if (endsNow(wait, draft)) settleRuns(parked, draft);
      continue;
    }
    const open = from?.length ? firstAtWork(from, now, led.wait_cursors.get(call.id)) : null;
    const answered = from?.length ? open === null : isComplete(wait, now);
    const complete = answered || isCutShort(wait, draft, now);
    if (complete || wait.deadline <= view.now) settleWait(parked, draft, now, complete ? null : 'timeout');
    else if (open !== null) cursors.push([call.id, open]);
  }
  return cursors.length === 0 ? NO_CURSORS : new Map(cursors);
}

/** Index of an agent that still works, or null. Begins at the one found last: while it works, a check takes constant time. */
function firstAtWork(from: readonly string[], view: WaitView, start = 0): number | null {
  for (let offset = 0; offset < from.length; offset += 1) {
    const index = (start + offset) % from.length;
    if (!isAnswered(from[index] as string, view)) return index;
  }
  return null;
}

/** Settles the call at once if there is nothing to wait for; else parks it. */
export function endOrPark({ call, wait }: Parked, draft: Draft): void {
  const { now } = draft.view;
  const view = waitView(draft);
  if (wait.runs && endsNow(wait, draft)) return settleRuns({ call, wait }, draft);
  if (wait.runs) return void draft.apply({ type: 'call-parked', at: now, call_id: call.id, wait });
  if (isComplete(wait, view) || isCutShort(wait, draft, view))
    return settleWait({ call, wait }, draft, view, null);
  if (wait.deadline <= now) return settleWait({ call, wait }, draft, view, 'timeout');
  draft.apply({ type: 'call-parked', at: now, call_id: call.id, wait });
  if (wait.from !== null) draft.park(call.id, wait.from);
}

function isComplete({ from }: WaitSpec, view: WaitView): boolean {
  return from?.length ? from.every((id) => isAnswered(id, view)) : view.inbox.some(isLetter);
}

/** Whether a wait achieves nothing more, or its agent is needed. Not asked for a person's wait: the person decides how long it makes sense. */
function isCutShort(wait: WaitSpec, { view, led }: Draft, now: WaitView): boolean {
  return wait.from?.length ? isNeeded(wait, now, view.waitersOf(led.agent.id)) : nobodyWorks(now);
}

function settleWait({ call, wait }: Parked, draft: Draft, view: WaitView, cut: WaitCut | null): void {
  const end = endWait(wait, view, cut);
  draft.apply({
    type: 'call-settled',
    at: view.now,
    result: waitResult(call, end),
    consequences: end.consume.length === 0 ? [] : [{ type: 'consume-mail', mail_ids: end.consume }],
  });
  for (const { name, last_reply = '' } of end.unsent ?? []) hear(draft, 'the last reply', name, last_reply);
}

/** Mail that a workflow takes as data. */
function endsRuns(mail: Mail): boolean {
  return mail.kind === 'announce' || isLetter(mail);
}

/** A paused run does not wait: its next request does, so that no time runs out meanwhile. */
function endsNow({ deadline }: WaitSpec, { config, view, mail }: Draft): boolean {
  return config.workflow?.paused !== undefined || deadline <= view.now || mail.left.some(endsRuns);
}

/**
 * Ends the wait of a workflow: everything that has arrived is its result, in the order in which the ledger has it. What arrives while the run is paused stays
 * in the mailbox.
 */
function settleRuns({ call }: Parked, draft: Draft): void {
  const { view, config } = draft;
  const taken = config.workflow?.paused === undefined ? draft.mail.left.filter(endsRuns) : [];
  const arrived = taken.flatMap((mail): WorkflowNews[] => {
    if (isLetter(mail)) return [{ from: mail.from_id ?? PERSON, name: mail.from_name, text: mail.body }];
    const ended = readChildResult(mail);
    if (ended === null) draft.tell(unreadable(mail));
    return ended === null ? [] : [{ ...ended, agent_id: firstId(view.relatives, ended.agent_id) }];
  });
  const mail_ids = taken.map(({ id }) => id);
  draft.apply({
    type: 'call-settled',
    at: view.now,
    result: runsResult(call, draft, arrived),
    consequences: mail_ids.length === 0 ? [] : [{ type: 'consume-mail', mail_ids }],
  });
}

function runsResult(
  { id: call_id, name }: Call,
  draft: Draft,
  arrived: readonly WorkflowNews[],
): ResultContent {
  return { call_id, name, status: 'ok', output: JSON.stringify(waitedFor(draft, arrived)) };
}

/** A person waits for letters of agents, and sees them; they stay in the mailbox for the model, as the person's own letters do. */
function humanWaitView(draft: Draft): WaitView {
  const view = waitView(draft);
  return { ...view, inbox: view.inbox.filter((mail) => mail.from_id !== null) };
}

/** Ends a person's wait like that of a tool; its result is shown to people only. */
export function endHumanWait(draft: Draft): void {
  const { state } = draft;
  if (state.type !== 'waiting') return;
  const { wait } = state;
  const view = humanWaitView(draft);
  const complete = isComplete(wait, view);
  if (!complete && wait.deadline > view.now) return;
  const end = endWait(wait, view, complete ? null : 'timeout');
  draft.apply({ type: 'wait-ended', at: view.now, output: end.output, waited: end.facts.waited });
}

/** Stops the turn. Interrupted waits return what they have; a streamed answer is kept as far as it came. */
export function cancel(draft: Draft, event: EventOf<'cancel'>): void {
  const interrupted = (call_id: string, name: string, wait: WaitSpec, view: WaitView): ResultContent => {
    const end = endWait(wait, view, 'interrupted');
    if (call_id !== HUMAN_WAIT) for (const id of end.consume) draft.mail.takeWithNext(id);
    return waitResult({ id: call_id, name }, end);
  };
  const open = parkedCalls(draft).map(({ call, wait }) =>
    wait.runs ? runsResult(call, draft, []) : interrupted(call.id, call.name, wait, waitView(draft)),
  );
  const { state } = draft;
  if (state.type === 'waiting') open.push(interrupted(HUMAN_WAIT, 'wait', state.wait, humanWaitView(draft)));
  draft.apply({ ...event, open, ...saidSoFar(draft.led) });
}
