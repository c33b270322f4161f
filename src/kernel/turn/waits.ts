import type { Agent } from '../../core/agent.ts';
import type { AgentEvent } from '../../core/event.ts';
import { type Mail, type NewMail, WAKING_MAIL } from '../../core/mail.ts';
import type { Call, WaitSpec } from '../../core/state.ts';
import { endWait, isAnswered, type WaitCut, type WaitView } from '../../core/wait.ts';
import { HUMAN_WAIT } from '../../core/waiting.ts';
import type { Draft } from './draft.ts';
import { type LedAgent, saidSoFar } from './led-agent.ts';
import type { View } from './view.ts';

export function isLetter(mail: Mail): boolean {
  return mail.kind === 'letter';
}

export function waitView(draft: Draft, cell: LedAgent, around: View): WaitView {
  const untouched = draft.consumed.size === 0;
  const inbox = untouched
    ? cell.inbox.all()
    : cell.inbox.all().filter((mail) => !draft.consumed.has(mail.id));
  return {
    now: around.now,
    inbox,
    agent: (id) => around.forest.agent(id),
    // What this step sends is not delivered yet, and whoever gets it is about to work on it.
    hasMail: (agent) => around.hasMail(agent) || draft.send.some((mail) => wakes(mail, agent)),
    hasLetterFrom: untouched
      ? (id) => cell.inbox.hasLetterFrom(id)
      : (id) => inbox.some((mail) => isLetter(mail) && mail.from_id === id),
  };
}

function wakes({ to_id, kind }: NewMail, { id }: Agent): boolean {
  return to_id === id && WAKING_MAIL.has(kind);
}

interface Parked {
  readonly call: Call;
  readonly wait: WaitSpec;
}

function parkedCalls(draft: Draft): Parked[] {
  if (draft.state.type !== 'executing') return [];
  return draft.state.running.flatMap(({ call, wait }) => (wait === undefined ? [] : [{ call, wait }]));
}

export function endWaits(draft: Draft, cell: LedAgent, around: View): void {
  for (const parked of parkedCalls(draft)) {
    const view = waitView(draft, cell, around);
    const complete = isComplete(parked, cell, view);
    const late = parked.wait.deadline <= around.now;
    if (complete || late) settleWait(parked, draft, view, complete ? null : 'timeout', around);
  }
}

/** Begins at the agent that ran at the last look: a look costs one step as long as that one still runs. */
function isComplete({ call, wait }: Parked, cell: LedAgent, view: WaitView): boolean {
  const { from } = wait;
  if (from === null) return view.inbox.some(isLetter);
  const start = cell.wait_cursors.get(call.id) ?? 0;
  for (let offset = 0; offset < from.length; offset += 1) {
    const index = (start + offset) % from.length;
    if (!isAnswered(from[index] as string, view)) {
      cell.wait_cursors.set(call.id, index);
      return false;
    }
  }
  return true;
}

export function settleWait(
  { call, wait }: Parked,
  draft: Draft,
  view: WaitView,
  cut: WaitCut | null,
  around: View,
): void {
  const end = endWait(wait, view, cut);
  draft.apply({
    type: 'call-settled',
    at: around.now,
    result: { call_id: call.id, name: call.name, status: 'ok', output: end.output },
    consequences: end.consume.length === 0 ? [] : [{ type: 'consume-mail', mail_ids: end.consume }],
    spawned: [],
  });
}

/** A person waits for what agents write: their own words are for the model and stay in the mailbox until the wait is over. */
function humanWaitView(draft: Draft, cell: LedAgent, around: View): WaitView {
  const view = waitView(draft, cell, around);
  return { ...view, inbox: view.inbox.filter((mail) => mail.from_id !== null) };
}

/** A person's wait ends like a tool's; its result is for people. */
export function endHumanWait(draft: Draft, cell: LedAgent, around: View): void {
  const { state } = draft;
  if (state.type !== 'waiting') return;
  const { wait } = state;
  const view = humanWaitView(draft, cell, around);
  const complete =
    wait.from === null ? view.inbox.some(isLetter) : wait.from.every((id) => isAnswered(id, view));
  if (!complete && wait.deadline > around.now) return;
  const end = endWait(wait, view, complete ? null : 'timeout');
  draft.apply({ type: 'wait-ended', at: around.now, output: end.output, mail_ids: end.consume });
}

/** A wait that is interrupted shows what it has, as an interrupted one, and an answer that streams stays as far as it came; then the turn stops. */
export function cancel(
  draft: Draft,
  cell: LedAgent,
  around: View,
  event: Extract<AgentEvent, { type: 'cancel' }>,
): void {
  const parked = parkedCalls(draft);
  const open = parked.map((one) => {
    const end = endWait(one.wait, waitView(draft, cell, around), 'interrupted');
    for (const id of end.consume) draft.consumeWithNext(id);
    return { call_id: one.call.id, name: one.call.name, status: 'ok' as const, output: end.output };
  });
  if (draft.state.type === 'waiting') {
    const end = endWait(draft.state.wait, humanWaitView(draft, cell, around), 'interrupted');
    for (const id of end.consume) draft.consumeWithNext(id);
    open.push({ call_id: HUMAN_WAIT, name: 'wait', status: 'ok' as const, output: end.output });
  }
  draft.apply({ ...event, open, ...saidSoFar(cell) });
}
