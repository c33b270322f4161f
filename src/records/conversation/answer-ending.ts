import type { Failure } from './failure.ts';
import type { AssistantContent } from './message.ts';

/** What a model is told when an answer of it was no whole one; it is asked once more. */
const CONTINUE =
  'Your answer was cut off at the output limit. Go on exactly where it stopped, without repeating anything.';
const SHORTER = 'The output limit was reached before you said anything. Think less, and answer now.';
const SAY = 'Your answer was empty. Go on, or say in words what came of it.';

export const GO_ON = 'Your answer was not finished. Go on where it stopped, or answer anew.';

const CUT_MARK = '[The answer was cut off here, at the output limit of the model.]';

const INTERRUPTED_MARK = '[The answer was interrupted here.]';

/** Providers' words for a model that declined by itself; everything else is a filter's. */
const DECLINED: ReadonlySet<string> = new Set(['refusal', 'stop']);

/** Nothing in a refused answer counts, neither text nor calls; it is not sent to the model again (`prompt.ts`). */
export function refusal({ finish, reason }: AssistantContent): Failure | null {
  if (finish !== 'refused') return null;
  const error =
    reason === undefined || DECLINED.has(reason)
      ? 'the model declined to answer'
      : `a content filter of the provider blocked the answer (${reason})`;
  return { kind: 'refused', error, retryable: true };
}

/** How an answer that was cut goes on. */
export function continuation(said: string): string {
  return said.trim() === '' ? SHORTER : CONTINUE;
}

/** Why an answer without calls is no end of a turn, and what its model is told to mend it; null for a whole one. */
export function shortfall(
  { finish }: AssistantContent,
  text: string,
): { readonly failure: Failure; readonly order: string } | null {
  const silent = text.trim() === '';
  if (finish === 'length') {
    const error = silent
      ? 'the output limit of the model was reached before it said anything, twice'
      : 'the answer was cut off at the output limit of the model, and so was its continuation';
    return { failure: { kind: 'cut', error, retryable: true }, order: continuation(text) };
  }
  if (!silent) return null;
  return {
    failure: { kind: 'empty', error: 'the model answered with nothing, twice', retryable: true },
    order: SAY,
  };
}

/** A last answer cannot be continued: a text that was cut says so. */
export function marked({ finish }: AssistantContent, text: string): string {
  return finish === 'length' && text !== '' ? `${text}\n\n${CUT_MARK}` : text;
}

/** What had come of an answer that somebody stopped: its text. Thoughts and calls that were not finished are no part of it. */
export function interruptedAnswer(model: string, said: string): AssistantContent {
  return { model, parts: [{ type: 'text', text: said }], finish: 'interrupted' };
}

/** As its model reads it afterwards: it shall know that the rest was never heard. */
export function toldAsInterrupted({ parts }: AssistantContent): AssistantContent['parts'] {
  return parts.map((part) =>
    part.type === 'text' ? { type: 'text', text: `${part.text.trimEnd()}\n\n${INTERRUPTED_MARK}` } : part,
  );
}
