import { CoppiceError } from '../../records/coppice-error.ts';
import { clean } from '../../render/clean.ts';
import { StoreError } from '../../store/store-error.ts';
import type { ChatSessions } from '../channel.ts';

const BUTTON_DATA = /^([ysn]):([0-9a-f-]{8,60})$/;

/** A button under a question that was pressed, and by whom. `name` is for people, without control characters. */
interface Press {
  readonly chat: string;
  readonly data: string;
  readonly by: string;
  readonly name: string;
}

/** Whether the error comes from the ledger rather than from the request, so that a retry may succeed. */
export function isLedgerFailure(error: unknown): boolean {
  if (error instanceof StoreError) return true;
  if (!(error instanceof CoppiceError)) return false;
  return error.retryable || error.code === 'E_DATABASE' || error.code === 'E_CLOSED';
}

/** Whether the error is sent to the person as a reply; after any other error the update is retried. */
export function isReply(error: unknown): error is CoppiceError {
  return error instanceof CoppiceError && !isLedgerFailure(error);
}

export function spoken({ message, hint }: CoppiceError): string {
  return hint === null ? message : `${message}\n${hint}`;
}

/** Notice for the person who pressed the button (`told`), and the line that replaces the buttons; null keeps them. */
interface PressOutcome {
  readonly told: string;
  readonly line: string | null;
}

/** Answers the question of a button. Rejects with the errors of `ChatSessions`, except for questions that cannot be answered any more. */
export async function pressOutcome(
  sessions: ChatSessions,
  { chat, data, by, name }: Press,
): Promise<PressOutcome> {
  const [, letter, ask] = BUTTON_DATA.exec(data) ?? [];
  if (letter === undefined || ask === undefined) return { told: 'unknown button', line: null };
  const denies = letter === 'n';
  const scope = letter === 's' ? 'agent' : 'once';
  let rule = '';
  try {
    const { granted, tool } = await sessions.answer(chat, ask, {
      verdict: denies ? 'deny' : 'allow',
      scope,
      note: '',
      by,
    });
    rule = clean(granted ?? tool);
  } catch (error) {
    const code = error instanceof CoppiceError ? error.code : null;
    if (code === 'E_ASK_ANSWERED') return { told: 'already answered', line: 'already answered' };
    if (code === 'E_ASK_NOT_FOUND')
      return { told: 'this question is no longer open', line: 'no longer open' };
    throw error;
  }
  if (denies) return { told: 'denied', line: `✗ denied by ${name}` };
  return scope === 'agent'
    ? { told: 'allowed for this agent', line: `✓ allowed by ${name}; for this agent from now on: ${rule}` }
    : { told: 'allowed once', line: `✓ allowed by ${name}` };
}
