import type { Failure } from '../agent/failure.ts';
import type { AssistantContent } from './message.ts';

/** Instructions to a model whose answer was incomplete; it is asked once more. */
const CONTINUE =
  'Your answer was cut off at the output limit. Continue exactly where it stopped, without repeating anything.';
const SHORTER = 'The output limit was reached before you said anything. Think less, and answer now.';
const SAY = 'Your answer was empty. Continue, or summarise the outcome in words.';

export const GO_ON = 'Your answer was not finished. Continue where it stopped, or start the answer again.';

const CUT_MARK = '[The answer was cut off here, at the output limit of the model.]';

const INTERRUPTED_MARK = '[The answer was interrupted here.]';

/** Provider reasons that mean that the model itself declined; any other reason means a content filter. */
const DECLINED: ReadonlySet<string> = new Set(['refusal', 'stop']);

/** The failure of a refused answer; null for any other. Its text and calls are discarded and never sent to a model again (`prompt.ts`). */
export function refusal({ finish, reason }: AssistantContent): Failure | null {
  if (finish !== 'refused') return null;
  const error =
    reason === undefined || DECLINED.has(reason)
      ? 'the model declined to answer'
      : `a content filter of the provider blocked the answer (${reason})`;
  return { kind: 'refused', error, retryable: true };
}

/** The instruction to continue an answer that was cut off. */
export function continuation(said: string): string {
  return said.trim() === '' ? SHORTER : CONTINUE;
}

/** For an incomplete answer without calls: the failure, and the instruction to the model to fix it; null for a complete answer. */
export function incompleteAnswer(
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

/** Appends a mark to a last answer that was cut off, because it cannot be continued. */
export function marked({ finish }: AssistantContent, text: string): string {
  return finish === 'length' && text !== '' ? `${text}\n\n${CUT_MARK}` : text;
}

/** An answer that was stopped: its text so far, without unfinished reasoning and calls. */
export function interruptedAnswer(model: string, said: string): AssistantContent {
  return { model, parts: [{ type: 'text', text: said }], finish: 'interrupted' };
}

/** An interrupted answer as later requests show it, with a mark, so that the model knows that nobody read the rest. */
export function toldAsInterrupted({ parts }: AssistantContent): AssistantContent['parts'] {
  return parts.map((part) =>
    part.type === 'text' ? { type: 'text', text: `${part.text.trimEnd()}\n\n${INTERRUPTED_MARK}` } : part,
  );
}
