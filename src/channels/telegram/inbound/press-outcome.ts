import { CoppiceError } from '../../../records/coppice-error.ts';
import { clean } from '../../../render/clean.ts';
import type { ChatDesk } from '../../channel.ts';
import type { Press } from './incoming.ts';

/** What came of a press: for whoever pressed, and the line that takes the place of the buttons; without one they stay. */
export interface PressOutcome {
  readonly told: string;
  readonly line: string | null;
}

const FORM = /^([ysn]):([0-9a-f-]{8,60})$/;

/** Answers the question that a button belongs to. Rejects with what the desk rejects with, unless it says that there is nothing to answer. */
export async function pressOutcome(desk: ChatDesk, press: Press): Promise<PressOutcome> {
  const [, letter, ask] = FORM.exec(press.data) ?? [];
  if (letter === undefined || ask === undefined) return { told: 'this button is not known here', line: null };
  const denies = letter === 'n';
  const scope = letter === 's' ? 'agent' : 'once';
  try {
    await desk.answer(String(press.chat), ask, {
      verdict: denies ? 'deny' : 'allow',
      scope,
      note: '',
      by: `telegram:${press.from.id}`,
    });
  } catch (error) {
    const code = error instanceof CoppiceError ? error.code : null;
    if (code === 'E_ASK_ANSWERED') return { told: 'already answered', line: 'already answered' };
    if (code === 'E_ASK_NOT_FOUND')
      return { told: 'this does not wait any more', line: 'does not wait any more' };
    throw error;
  }
  const name = clean(press.from.name);
  if (denies) return { told: 'denied', line: `✗ denied by ${name}` };
  return scope === 'agent'
    ? { told: 'allowed for this agent', line: `✓ allowed by ${name}, for this agent from now on` }
    : { told: 'allowed once', line: `✓ allowed by ${name}` };
}
