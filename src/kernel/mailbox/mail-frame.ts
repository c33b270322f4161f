import { framedName } from '../../records/agent/agent-name.ts';
import type { Mail } from '../../records/conversation/mail.ts';
import { framed, quoteStamps } from '../../records/text/untrusted-text.ts';

const UNSENT =
  'A status "idle" says how the turn of an agent ended that sent you nothing in it: its last words ("submitted": false), or why it stopped. What you answer now replaces your last answer, so repeat what still counts of it.';

/** Notifies an agent that reads its own inbox of new mail: one line per sender. */
export function noticeOf(letters: readonly Mail[]): string {
  const senders = new Set(letters.map((letter) => letter.from_id ?? 'human'));
  return [...senders].map((sender) => `got mail from ${sender}`).join('\n');
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
