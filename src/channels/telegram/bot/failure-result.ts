import type { DeliverResult } from '../../channel.ts';
import type { BotFailure } from './bot-failure.ts';

/** What a failed call means for the parcel. */
export function failureResult(failure: BotFailure): DeliverResult {
  switch (failure.type) {
    case 'aborted':
      return { type: 'retry', error: 'stopped before all of it was sent', after_ms: null };
    case 'flood':
      return { type: 'retry', error: 'Telegram asked to slow down', after_ms: Math.ceil(failure.after_ms) };
    case 'transient':
    case 'conflict':
      return { type: 'retry', error: failure.error, after_ms: null };
    case 'unauthorized':
      return { type: 'failed', error: TOKEN_REFUSED };
    case 'refused':
      return { type: 'failed', error: refusal(failure.error, failure.migrated_to) };
  }
}

/** One sentence on a token that Telegram does not know. */
export const TOKEN_REFUSED =
  'the bot token was refused: put the token that @BotFather gave you into the environment variable that channels.telegram.tokenEnv names';

function refusal(error: string, migrated_to: number | null): string {
  if (migrated_to !== null)
    return `the group has become a supergroup: write telegram:${migrated_to} in place of the old id`;
  return `Telegram refused the message: ${error}`;
}
