import type { AgentState } from '../agent/state.ts';
import type { AssistantContent, Message } from './message.ts';

/**
 * What of a child's words its parent gets, in every vocabulary (docs/vocabularies.md):
 * - the text with which it stopped is its result; one that must submit counts with it too, marked as not submitted;
 * - an empty text is never a success;
 * - what is left of a failure is all that it said.
 */

/** Texts as one, in order, without those that say nothing, or the same as the one before. */
export function allTexts(...texts: readonly (string | undefined)[]): string {
  return texts
    .filter((text) => text !== undefined && text.trim() !== '')
    .filter((text, place, all) => text !== all[place - 1])
    .join('\n\n');
}

export function textOf({ parts }: Pick<AssistantContent, 'parts'>): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
}

/** The limit that ended the newest turn, or the run, although there is a result; null: none did. */
export function cutShort(state: AgentState): string | null {
  return state.type === 'idle' || state.type === 'completed' ? (state.limit ?? null) : null;
}

/** Why there is no whole result, and what there is of it. */
export function withRest(text: string, rest: string): string {
  return rest === '' ? text : `${text}\n\nWhat it had by then:\n${rest}`;
}

/** A result for whoever gets it as a text alone. */
export function resultText(result: string, limit: string | null | undefined): string {
  return limit == null ? result : withRest(`the sub-agent was cut short: ${limit}`, result);
}

/** The same on one line, for people. */
export function shortly(result: string, limit: string | null | undefined): string {
  return limit == null ? result : `(${limit}) ${result}`;
}

/** What the model said in these messages. */
export function saidIn(messages: readonly Message[]): string[] {
  return messages.flatMap((message) => (message.kind === 'assistant' ? [textOf(message.content)] : []));
}
