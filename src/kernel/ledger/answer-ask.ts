import type { AskAnswer } from '../../records/conversation/ask.ts';
import type { Mail, NewMail } from '../../records/conversation/mail.ts';
import type { AskFacts } from './facts.ts';
import { post } from './post-mail.ts';
import type { UnitOfWork } from './unit-of-work.ts';

/** Answers an ask once: its agent gets the answer as mail. Idempotent: the same answer again is a retry after a lost acknowledgement. */
export function answerAsk(
  unit: UnitOfWork,
  ask_id: string,
  answer: AskAnswer,
): { readonly ok: true; readonly mail: Mail } | { readonly ok: false; readonly changed?: true } {
  const ask = unit.ask(ask_id);
  if (ask === null) return { ok: false };
  const { verdict, scope, rule, note, by, at } = answer;
  const mail = answerMail(ask, answer);
  if (ask.verdict === null) {
    if (!names(answer.shown ?? ask_id, ask_id)) return { ok: false, changed: true };
    if (unit.tree(ask.root_id)?.removal != null || !unit.isAlive(ask.agent_id)) return { ok: false };
    const answered = { verdict, scope, note, answered_by: by, answered_at: at };
    unit.answerAsk(ask, answered, rule === undefined || scope === 'once' ? {} : { granted: rule });
    return { ok: true, mail: post(unit, mail, null) };
  }
  const there = unit.mail(mail.id);
  const same =
    ask.verdict === verdict &&
    ask.scope === scope &&
    ask.note === note &&
    ask.answered_by === by &&
    ask.answered_at === at;
  return same && there !== null
    ? { ok: true, mail: { ...mail, number: there.number, consumed_seq: null } }
    : { ok: false };
}

const SHOWN_MIN = 6;

/** Whether what was shown is this question: its id, the beginning of the id, or the digest with which the id begins. Ids of older versions begin with none. */
function names(shown: string, id: string): boolean {
  const digest = id.slice(0, 13).replace('-', '');
  const fits = id.startsWith(shown) || shown.startsWith(digest) || id[14] !== '8';
  return shown === id || (shown.length >= SHOWN_MIN && fits);
}

/** One id per ask, so that the answer cannot arrive twice. */
function answerMail(
  { id, root_id, agent_id }: AskFacts,
  { verdict, scope, note, by, at, dismissed }: AskAnswer,
): NewMail {
  const turn = verdict === 'allow' && scope === 'turn' ? { turn: true } : {};
  const put_away = verdict === 'deny' && dismissed === true ? { dismissed } : {};
  return {
    id: `answer-${id}`,
    root_id,
    to_id: agent_id,
    from_id: null,
    from_name: by,
    kind: 'control',
    body: JSON.stringify({ type: 'answer', ask_id: id, verdict, note, ...turn, ...put_away }),
    sent_at: at,
  };
}
