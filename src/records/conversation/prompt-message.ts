import { excerpt } from '../text/text.ts';
import type { WorkflowWait } from './facts/workflow-wait.ts';
import type { AssistantPart, Image, ResultContent } from './message.ts';

/** A message of a conversation as a model sees it: only kinds that may reach a provider, with results grouped per assistant message. */
export type PromptMessage =
  | {
      readonly role: 'user';
      readonly text: string;
      readonly images?: readonly Image[];
      /** For the script of a workflow; no provider gets it. */
      readonly arrived?: WorkflowWait;
    }
  | { readonly role: 'assistant'; readonly model: string; readonly parts: readonly AssistantPart[] }
  | { readonly role: 'results'; readonly results: readonly ResultContent[] };

/** Replaces the output of results that a person left out of the prompt. */
export const LEFT_OUT_RESULT = 'This result was left out: the provider refused to take it.';

const LEFT_OUT_MESSAGE = 'This message was left out: the provider refused to take it.';

/** Estimated size of a picture, and of the structure around a message, in characters. */
const PICTURE_CHARACTERS = 6_000;
const MESSAGE_CHARACTERS = 40;

/** Approximate size, in characters. */
export function sizeOf(message: PromptMessage): number {
  const texts =
    message.role === 'user'
      ? [message.text]
      : message.role === 'results'
        ? message.results.map(({ name, output }) => name + output)
        : message.parts.map((part) => (part.type === 'call' ? part.name + part.input : part.text));
  const pictures =
    message.role === 'user'
      ? (message.images?.length ?? 0)
      : message.role === 'results'
        ? message.results.reduce((sum, { images = [] }) => sum + images.length, 0)
        : 0;
  return texts.reduce(
    (sum, text) => sum + text.length + MESSAGE_CHARACTERS,
    MESSAGE_CHARACTERS + pictures * PICTURE_CHARACTERS,
  );
}

export function isLeftOut({ output, images }: ResultContent): boolean {
  return output === LEFT_OUT_RESULT && images === undefined;
}

export function withoutOutput({ call_id, name, status }: ResultContent): ResultContent {
  return { call_id, name, status, output: LEFT_OUT_RESULT };
}

/** Removes the content that the provider may have refused but keeps the structure around it; null if there is no content left to remove. */
export function withoutContent(message: PromptMessage): PromptMessage | null {
  switch (message.role) {
    case 'user':
      return message.text === LEFT_OUT_MESSAGE ? null : { role: 'user', text: LEFT_OUT_MESSAGE };
    case 'results':
      return message.results.every(isLeftOut)
        ? null
        : { role: 'results', results: message.results.map(withoutOutput) };
    case 'assistant': {
      const { role, model } = message;
      const calls = message.parts.flatMap((part) => (part.type === 'call' ? [{ ...part, input: '{}' }] : []));
      const parts = calls.length > 0 ? calls : [{ type: 'text' as const, text: LEFT_OUT_MESSAGE }];
      return JSON.stringify(parts) === JSON.stringify(message.parts) ? null : { role, model, parts };
    }
  }
}

/** Short description of the message, for people. */
export function describeMessage(message: PromptMessage): string {
  if (message.role === 'user') return `the message ${excerpt(message.text)}`;
  if (message.role === 'results')
    return `what ${[...new Set(message.results.map(({ name }) => name))].join(', ')} returned`;
  const text = message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
  const calls = message.parts.flatMap((part) => (part.type === 'call' ? [part.name] : []));
  return calls.length === 0 ? `the answer ${excerpt(text)}` : `the calls of ${calls.join(', ')}`;
}
