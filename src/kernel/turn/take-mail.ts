import { framedName } from '../../core/agent-name.ts';
import { announcement } from '../../core/announcement.ts';
import type { Mail } from '../../core/mail.ts';
import type { UserContent } from '../../core/message.ts';
import type { AgentState, FanIn } from '../../core/state.ts';
import type { Draft } from './draft.ts';
import { follow, notice } from './follow-order.ts';
import type { LedAgent } from './led-agent.ts';
import { frameLetters, noticeOf } from './mail-frame.ts';
import { readChildResult, readOrder } from './read-mail.ts';
import type { View } from './view.ts';

/** Up to so many children of a fan-in, every outcome is taken as it comes. */
const GATHER_ABOVE = 32;

/**
 * Outcomes of children and orders of people; they are consumed whether or not the state still admits them. Of a large fan-in they wait in the
 * mailbox until half of what is missing is there: each step writes the whole state, so one step for each would cost the square of their number.
 */
export function takeOrders(draft: Draft, cell: LedAgent, around: View): void {
  const orders = cell.inbox.all().filter((mail) => isOrder(mail) && !draft.consumed.has(mail.id));
  const { state } = draft;
  const gathers = isFanIn(state) && state.spawned.length > GATHER_ABOVE && draft.isEmpty;
  if (gathers && orders.length * 2 < state.pending.length && orders.every(isOutcome)) return;
  for (const mail of orders) {
    if (draft.holds_mail && !isOutcome(mail)) continue;
    if (mustLookFirst(mail, draft, cell, around)) holdForLook(mail, draft);
    else takeOrder(draft, mail, cell, around);
  }
}

/** A wait for agents that other processes lead: what was heard of them grows old, and of some nothing was heard yet. */
function mustLookFirst(mail: Mail, draft: Draft, cell: LedAgent, around: View): boolean {
  if (!around.shared || isOutcome(mail) || cell.surveyed.has(mail.id)) return false;
  if (draft.state.type !== 'idle' && draft.state.type !== 'errored') return false;
  const order = readOrder(mail);
  return order?.type === 'wait' && order.from !== null;
}

/** The order stays in the mailbox until the ledger was asked for everybody of the tree; what came after it stays too. */
function holdForLook({ id }: Mail, draft: Draft): void {
  const call = { id, name: 'wait', input: '{}', side_by_side: false, idempotent: true };
  draft.deferred.push({ call, look_up: [], needs: [], survey: true });
  draft.holds_mail = true;
}

/** Whatever else happens to a fan-in, the outcomes that are there count first. */
export function takeOutcomes(draft: Draft, cell: LedAgent, around: View): void {
  if (!isFanIn(draft.state)) return;
  for (const mail of cell.inbox.all()) if (isOutcome(mail)) takeOrder(draft, mail, cell, around);
}

function takeOrder(draft: Draft, mail: Mail, cell: LedAgent, around: View): void {
  const child = isOutcome(mail) ? readChildResult(mail) : null;
  const order = isOutcome(mail) ? null : readOrder(mail);
  if (child !== null) draft.apply({ type: 'child-result', at: around.now, child });
  else if (order !== null) follow(order, mail, draft, cell, around);
  else notice(draft, unreadable(mail));
  draft.consumeNow(mail.id);
}

function unreadable({ kind, from_name }: Mail): string {
  return `mail (${kind}) from ${framedName(from_name)} could not be read and was put aside`;
}

function isOutcome({ kind }: Mail): boolean {
  return kind === 'outcome';
}

function isOrder({ kind }: Mail): boolean {
  return kind === 'outcome' || kind === 'control';
}

function isFanIn(state: AgentState): state is FanIn {
  return state.type === 'awaiting' || state.type === 'cancelling';
}

/**
 * Mail that says something to the model. It wakes an agent that rests; a person's letters and announcements also join a turn before
 * its next request, and so do all letters to an agent with one task, which never rests before it ends.
 */
export function takeMail(draft: Draft, cell: LedAgent, around: View): void {
  if (cell.inbox.isEmpty || draft.holds_mail) return;
  const pending = cell.inbox.all().filter((mail) => !draft.consumed.has(mail.id));
  const resting = () => draft.state.type === 'idle' || draft.state.type === 'errored';
  beginTask(draft, pending, around);
  // What else came for a run lies in wait until its turn has come: it begins with its task.
  if (pending.some((mail) => mail.kind === 'task' && !draft.consumed.has(mail.id))) return;
  const asking = draft.world.some((effect) => effect.type === 'request-model');
  if (!resting() && !asking) return;
  for (const mail of pending) {
    if (mail.kind === 'announce') takeAnnouncement(draft, mail, around);
    else if (mail.kind === 'event') takeEvent(draft, mail, around);
  }
  const letters = pending.filter((mail) => mail.kind === 'letter');
  const of_agents = letters.filter((mail) => mail.from_id !== null);
  if (resting() || around.context.reports) takeLetters(draft, of_agents, around);
  for (const mail of letters) {
    if (mail.from_id !== null) continue;
    draft.consumeWithNext(mail.id);
    say(draft, { origin: 'human', text: mail.body }, around);
  }
}

/** Starts a turn, or joins the one that is about to ask. */
function say(draft: Draft, content: UserContent, around: View): void {
  const type = draft.state.type === 'requesting' ? 'steer' : 'input';
  draft.apply({ type, at: around.now, content });
}

/** A queued run begins when its turn has come (seed 4). */
function beginTask(draft: Draft, pending: readonly Mail[], around: View): void {
  const task = pending.find((mail) => mail.kind === 'task');
  if (task === undefined || draft.state.type !== 'idle' || !around.mayBegin(draft.before)) return;
  draft.consumeWithNext(task.id);
  draft.apply({ type: 'input', at: around.now, content: { origin: 'task', text: task.body } });
}

/** The end of a background run (seed 4); its conversation may go with the step that delivers it. */
function takeAnnouncement(draft: Draft, mail: Mail, around: View): void {
  const content = readChildResult(mail);
  if (content === null) {
    notice(draft, unreadable(mail));
    return draft.consumeNow(mail.id);
  }
  const { agent_id, outcome } = content;
  const child = around.forest.agent(agent_id);
  const terms = child?.config.task;
  const who = terms?.label ?? terms?.run_id ?? mail.from_name;
  draft.consumeWithNext(mail.id);
  say(draft, { origin: 'system', text: announcement(who, outcome) }, around);
  // One that people outside are told of too goes when they have it (`Store.cleanRuns`).
  if (terms?.cleanup === 'delete' && terms.delivers !== true) draft.remove.push(agent_id);
}

/** A timer's system event (seed 4). */
function takeEvent(draft: Draft, mail: Mail, around: View): void {
  draft.consumeWithNext(mail.id);
  say(draft, { origin: 'system', text: mail.body }, around);
}

function takeLetters(draft: Draft, letters: readonly Mail[], around: View): void {
  if (around.notices) return takeNotice(draft, letters, around);
  if (letters.length === 0) return;
  for (const mail of letters) draft.consumeWithNext(mail.id);
  say(draft, { origin: 'mail', text: frameLetters(letters, around.newId().slice(0, 8)) }, around);
}

/** One notice for each batch; the letters stay until they are read (seed 2). */
function takeNotice(draft: Draft, letters: readonly Mail[], around: View): void {
  const fresh = letters.filter((mail) => mail.number > draft.noticed);
  const last = fresh.at(-1);
  if (last === undefined) return;
  draft.noticed = last.number;
  say(draft, { origin: 'mail', text: noticeOf(fresh) }, around);
}
