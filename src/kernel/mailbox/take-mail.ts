import { isResting } from '../../records/agent/state.ts';
import type { Mail } from '../../records/conversation/mail.ts';
import type { UserContent } from '../../records/conversation/message.ts';
import type { Advance } from '../turn/advance-result.ts';
import type { Draft } from '../turn/draft.ts';
import { announcement } from './announcement.ts';
import { frameLetters, noticeOf } from './mail-frame.ts';
import { readChildResult, unreadable } from './read-mail.ts';

/** A queued run begins when its turn has come (seed 4). */
export function beginTask(draft: Draft): Advance['run'] {
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
 * Mail that says something to the model. It wakes an agent that rests; a person's letters and announcements also join a turn before
 * its next request, and so do all letters to an agent with one task, which never rests before it ends.
 */
export function takeMail(draft: Draft): void {
  const { led, view, mail } = draft;
  if (led.inbox.isEmpty || mail.isHeld) return;
  const pending = mail.left;
  // What else came for a run lies in wait until its turn has come: it begins with its task.
  if (pending.some(({ kind }) => kind === 'task')) return;
  if (!isResting(draft.state.type) && !draft.asksModel) return;
  for (const one of pending) {
    if (one.kind === 'announce') takeAnnouncement(draft, one);
    // A timer's system event (seed 4).
    else if (one.kind === 'event') say(draft, one, { origin: 'system', text: one.body });
  }
  const letters = pending.filter(({ kind }) => kind === 'letter');
  if (isResting(draft.state.type) || view.context.reports)
    takeLetters(
      draft,
      letters.filter(({ from_id }) => from_id !== null),
    );
  for (const one of letters) if (one.from_id === null) say(draft, one, { origin: 'human', text: one.body });
}

/** The words of this mail start a turn, or join the one that is about to ask. */
function say(draft: Draft, { id }: Mail, content: UserContent): void {
  draft.mail.takeWithNext(id);
  enter(draft, content);
}

function enter(draft: Draft, content: UserContent): void {
  const type = draft.state.type === 'requesting' ? 'steer' : 'input';
  draft.apply({ type, at: draft.view.now, content });
}

/** The end of a background run (seed 4); its conversation may go with the step that delivers it. */
function takeAnnouncement(draft: Draft, mail: Mail): void {
  const content = readChildResult(mail);
  if (content === null) {
    draft.tell(unreadable(mail));
    return draft.takeNow(mail.id);
  }
  const { agent_id, outcome } = content;
  const terms = draft.view.relatives.agent(agent_id)?.config.task;
  const who = terms?.label ?? terms?.run_id ?? mail.from_name;
  say(draft, mail, { origin: 'system', text: announcement(who, outcome) });
  // One that people outside are told of too goes when they have it (`Store.cleanRuns`).
  if (terms?.cleanup === 'delete' && terms.delivers !== true) draft.remove(agent_id);
}

function takeLetters(draft: Draft, letters: readonly Mail[]): void {
  if (draft.view.notices) return takeNotice(draft, letters);
  if (letters.length === 0) return;
  for (const { id } of letters) draft.mail.takeWithNext(id);
  enter(draft, { origin: 'mail', text: frameLetters(letters, draft.newId().slice(0, 8)) });
}

/** One notice for each batch; the letters stay until they are read (seed 2). */
function takeNotice(draft: Draft, letters: readonly Mail[]): void {
  const fresh = letters.filter(({ number }) => number > draft.noticed);
  const last = fresh.at(-1);
  if (last === undefined) return;
  draft.notice(last.number);
  enter(draft, { origin: 'mail', text: noticeOf(fresh) });
}
