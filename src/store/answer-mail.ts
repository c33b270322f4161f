import type { AskAnswer } from '../core/ask.ts';
import type { NewMail } from '../core/mail.ts';

/** The answer to an ask as its agent's mailbox takes it; one id per ask, so it cannot come twice. */
export function answerMail(
  ask: { readonly id: string; readonly root_id: string; readonly agent_id: string },
  { verdict, note, by, at }: AskAnswer,
): NewMail {
  return {
    id: `answer-${ask.id}`,
    root_id: ask.root_id,
    to_id: ask.agent_id,
    from_id: null,
    from_name: by,
    kind: 'control',
    body: JSON.stringify({ type: 'answer', ask_id: ask.id, verdict, note }),
    sent_at: at,
  };
}
