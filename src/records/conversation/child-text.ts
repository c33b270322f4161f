import type { AgentState } from '../agent/state.ts';
import type { AssistantContent, Message } from './message.ts';

/**
 * Rules for what a parent receives of its child's text, in every vocabulary (docs/vocabularies.md):
 * - The final text is the result. If the child had to submit, the result is marked as not submitted.
 * - An empty text is never a success.
 * - A failure carries everything that the child said.
 */

/** Joins texts in order, without blank ones and consecutive repetitions. */
export function allTexts(...texts: readonly (string | undefined)[]): string {
  return texts
    .filter((text) => text !== undefined && text.trim() !== '')
    .filter((text, place, all) => text !== all[place - 1])
    .join('\n\n');
}

export function assistantText({ parts }: Pick<AssistantContent, 'parts'>): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
}

/** The limit that ended the newest turn or the run early, with a result; null if none did. */
export function cutShort(state: AgentState): string | null {
  return state.type === 'idle' || state.type === 'completed' ? (state.limit ?? null) : null;
}

/** The reason for an incomplete result, followed by the partial result. */
export function withPartial(text: string, rest: string): string {
  return rest === '' ? text : `${text}\n\nWhat it had by then:\n${rest}`;
}

/** A result for recipients that get only text. */
export function resultText(result: string, limit: string | null | undefined): string {
  return limit == null ? result : withPartial(`the sub-agent was cut short: ${limit}`, result);
}

export function resultLine(result: string, limit: string | null | undefined): string {
  return limit == null ? result : `(${limit}) ${result}`;
}

/** The assistant texts of these messages, without those of refused answers, which no model must be sent. */
export function saidIn(messages: readonly Message[]): string[] {
  return messages.flatMap((message) =>
    message.kind === 'assistant' && message.content.finish !== 'refused'
      ? [assistantText(message.content)]
      : [],
  );
}
