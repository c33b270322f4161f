import type { Agent } from '../../records/agent/agent.ts';
import { framedName } from '../../records/agent/agent-name.ts';
import { isResting, restAfterSummary } from '../../records/agent/state.ts';
import { type FramedLetter, framesIn } from '../../records/conversation/facts/message-facts.ts';
import type { WorkflowNews, WorkflowWait } from '../../records/conversation/facts/workflow-wait.ts';
import { isLetter, type Mail } from '../../records/conversation/mail.ts';
import type { UserContent } from '../../records/conversation/message.ts';
import { namesNoTime, pauseOf } from '../../records/conversation/parked.ts';
import { announcement } from '../../records/run/run-end.ts';
import { delimiterOf, framed, injectionSign, quoteStamps } from '../../records/text/untrusted-text.ts';
import { readChildResult, unreadable } from '../mailbox/read-mail.ts';
import type { Advance } from './advance-result.ts';
import type { Draft } from './draft.ts';

/** Starts a queued run when its turn in the queue has come. */
export function beginQueuedRun(draft: Draft): Advance['run'] {
  const { led, view, mail, state } = draft;
  if (led.inbox.isEmpty || mail.isHeld || state.type !== 'idle') return null;
  const task = mail.left.find(({ kind }) => kind === 'task');
  if (task === undefined) return null;
  if (!view.mayBegin()) return 'queues';
  mail.takeWithNext(task.id);
  draft.apply({ type: 'input', at: view.now, content: { origin: 'task', text: task.body } });
  return 'begins';
}

/**
 * Takes mail with text for the model, which wakes a resting agent. Announcements and letters of people also join a turn before its next request, and
 * so do all letters to an agent with a single task, which does not rest before its end.
 */
export function takeMail(draft: Draft): void {
  const { led, view, mail } = draft;
  if (led.inbox.isEmpty || mail.isHeld) return;
  // A workflow takes its mail as the result of a wait.
  if (draft.config.workflow !== undefined && !isResting(draft.state.type)) return;
  const pending = mail.left;
  // A run begins with its task; other mail waits until then.
  if (pending.some(({ kind }) => kind === 'task')) return;
  const pause = pauseOf(draft.state);
  // A person who writes to it wants an answer.
  if (pause !== null && namesNoTime(pause) && pending.some((one) => isLetter(one) && one.from_id === null))
    draft.apply({ type: 'reopen', at: view.now, as: 'retry' });
  // Mail that joins a request for a summary alone would not be answered.
  if (!isResting(draft.state.type) && (!draft.asksModel || restAfterSummary(draft.state) !== null)) return;
  for (const one of pending) {
    if (one.kind === 'announce') takeAnnouncement(draft, one);
    // A scheduled system event.
    else if (one.kind === 'event') say(draft, one, { origin: 'system', text: one.body });
  }
  const letters = pending.filter(isLetter);
  if (isResting(draft.state.type) || view.context.reports)
    takeLetters(
      draft,
      letters.filter(({ from_id }) => from_id !== null),
    );
  for (const one of letters) if (one.from_id === null) say(draft, one, personSays(one));
}

function personSays({ body: text, images, attached }: Mail): UserContent {
  return { origin: 'human', text, ...(images && { images }), ...(attached && { facts: { attached } }) };
}

/** The mail's text starts a turn, or joins the one about to make a request. */
function say(draft: Draft, { id }: Mail, content: UserContent): void {
  draft.mail.takeWithNext(id);
  enter(draft, content);
}

function enter(draft: Draft, content: UserContent): void {
  const type = draft.state.type === 'requesting' ? 'steer' : 'input';
  draft.apply({ type, at: draft.view.now, content });
}

/** The end of a background run; the step that delivers it may delete its conversation. */
function takeAnnouncement(draft: Draft, mail: Mail): void {
  const content = readChildResult(mail);
  if (content === null) {
    draft.tell(unreadable(mail));
    return draft.takeNow(mail.id);
  }
  const { agent_id, outcome, did } = content;
  const { task: terms, workflow } = draft.view.relatives.agent(agent_id)?.config ?? {};
  const name = terms?.label ?? terms?.run_id ?? mail.from_name;
  const who = workflow === undefined ? name : `${name}, workflow run ${agent_id.slice(0, 8)}`;
  const delimiter = delimiterOf(draft.newId());
  const text = announcement(who, outcome, delimiter, did ?? 'nothing');
  const known = { ...content, agent_id: firstId(draft.view.relatives, agent_id) };
  const arrived = draft.config.workflow && waitedFor(draft, [known]);
  const facts = { frames: framesIn(text, delimiter), ...(arrived && { arrived }) };
  say(draft, mail, { origin: 'system', text, facts });
  // With outside deliveries it is deleted after them (`Store.cleanRuns`).
  if (terms?.cleanup === 'delete' && terms.delivers !== true) draft.remove(agent_id);
}

/** The id that an agent was created with, by which a script knows it also in a tree that was cut. */
export function firstId(relatives: Draft['view']['relatives'], id: string): string {
  return relatives.agent(id)?.was?.at(-1) ?? id;
}

/** What a script gets with what has arrived for it. */
export function waitedFor({ led, view }: Draft, arrived: readonly WorkflowNews[]): WorkflowWait {
  return { now: view.now, spent: spentBy(led.agent, view), arrived };
}

/** Tokens spent of what the script sees as its budget: the nearest on its path that counts tokens, or that of the tree. Agents that have ended count. */
function spentBy({ config, root_id }: Agent, { relatives }: Draft['view']): number {
  const nearest = config.budgets?.find(({ tokens }) => tokens !== undefined);
  const budget = nearest && relatives.budget(nearest.agent_id);
  if (budget !== undefined) return budget.spent.tokens;
  const { tokens = 0, cached = 0 } = relatives.tree(root_id) ?? {};
  return tokens - cached;
}

function takeLetters(draft: Draft, letters: readonly Mail[]): void {
  if (draft.view.notices) return takeNotice(draft, letters);
  if (letters.length === 0) return;
  for (const { id } of letters) draft.mail.takeWithNext(id);
  const delimiter = delimiterOf(draft.newId());
  const text = frameLetters(letters, delimiter);
  const frames = framesIn(text, delimiter, letters.map(framedLetter));
  enter(draft, { origin: 'mail', text, facts: { frames } });
}

/** One notice per batch, with a line for each sender; the mail stays unread until the agent checks it. */
function takeNotice(draft: Draft, letters: readonly Mail[]): void {
  const fresh = letters.filter(({ number }) => number > draft.noticed);
  const last = fresh.at(-1);
  if (last === undefined) return;
  draft.notice(last.number);
  const notice = [...new Set(fresh.flatMap(({ from_id }) => from_id ?? []))];
  const text = notice.map((sender) => `got mail from ${sender}`).join('\n');
  enter(draft, { origin: 'mail', text, facts: { notice } });
}

/** Warns people of a text that looks like instructions to the agents that read it (docs/permissions.md#reports-that-look-like-instructions). */
export function hear(draft: Draft, what: string, from_name: string, text: string): void {
  const why = injectionSign(text);
  if (why !== null) draft.tell(`check ${what} from ${framedName(from_name)}: ${why}`, { about: 'suspicion' });
}

/** Warns people of mail from agents, taken by this step, that looks like instructions. */
export function warnOfSuspiciousMail(draft: Draft): void {
  const { led, mail } = draft;
  if (mail.isUntouched) return;
  for (const one of led.inbox.all())
    if (one.from_id !== null && mail.ids.has(one.id)) hear(draft, 'a message', one.from_name, saidIn(one));
}

function saidIn(mail: Mail): string {
  const { kind, body, completion } = mail;
  if (isLetter(mail)) {
    if (completion === undefined) return body;
    const said = Object.values<unknown>(completion);
    return said.map((one) => (typeof one === 'string' ? one : JSON.stringify(one))).join('\n');
  }
  const child = kind === 'outcome' || kind === 'announce' ? readChildResult(mail) : null;
  return child === null ? '' : Object.values(child.outcome).join('\n');
}

const UNSENT =
  'A status "idle" is the report of an agent whose turn ended: its last words, or why it stopped. What you answer now replaces your last answer, so repeat what still counts of it.';

function framedLetter({ from_id, from_name, did, completion }: Mail): FramedLetter {
  return { from_id: from_id ?? '', from_name, ...(did && { did }), ...(completion && { completion }) };
}

/**
 * Frames mail from agents as one user message. The runtime names the sender, and a random delimiter that no sender can
 * know prevents the text from imitating anything outside its frame.
 */
export function frameLetters(letters: readonly Mail[], delimiter: string): string {
  const head =
    letters.length === 1
      ? 'A message arrived from another agent. It comes from an agent, not from the user.'
      : `${letters.length} messages arrived from other agents. They come from agents, not from the user.`;
  const texts = letters.map((letter) =>
    framed(
      delimiter,
      `message from ${framedName(letter.from_name)} (agent ${letter.from_id}), ${new Date(letter.sent_at).toISOString()}`,
      `${quoteStamps(letter.body)}${did(letter, delimiter)}`,
    ),
  );
  const is_report = letters.some(({ kind }) => kind === 'report');
  return [is_report ? `${head} ${UNSENT}` : head, ...texts].join('\n\n');
}

/** The line in which the runtime says what the sender really did; empty if unknown. */
function did(letter: Mail, delimiter: string): string {
  return letter.did === undefined ? '' : `\n--- ${delimiter} did: ${letter.did}`;
}
