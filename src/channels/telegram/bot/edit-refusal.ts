import type { BotFailure } from './bot-failure.ts';

/** What a refused edit means: it shows that text already, there is nothing (any more) that could be edited, or something else. */
export function editRefusal(failure: BotFailure): 'same' | 'gone' | 'other' {
  if (failure.type !== 'refused') return 'other';
  if (/message is not modified/i.test(failure.error)) return 'same';
  return /message to edit not found|message can't be edited|MESSAGE_ID_INVALID/i.test(failure.error)
    ? 'gone'
    : 'other';
}
