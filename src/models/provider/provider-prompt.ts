import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4TextPart,
} from '@ai-sdk/provider';
import { imageFault } from '../../records/conversation/image-bounds.ts';
import type {
  AssistantPart,
  CallPart,
  Image,
  ProviderMetadata,
  ResultContent,
} from '../../records/conversation/message.ts';
import type { PromptMessage } from '../../records/conversation/prompt-message.ts';
import { keptIn } from '../../records/kept-in.ts';
import { parsedObject } from '../../records/text/json-text.ts';

type AssistantMessage = Extract<LanguageModelV4Message, { role: 'assistant' }>;
type ToolMessage = Extract<LanguageModelV4Message, { role: 'tool' }>;
type Metadata = NonNullable<LanguageModelV4Message['providerOptions']>;

/**
 * Converts a conversation to the format of the provider packages. Messages are converted once per model: related agents share the message objects of
 * their prefix, so a thousand forks convert it once.
 */
export class ProviderPrompt {
  readonly #model: string;
  readonly #converted = new WeakMap<PromptMessage, readonly LanguageModelV4Message[]>();

  /** `model`: the full `provider/model`. Reasoning and metadata of other models are omitted. */
  constructor(model: string) {
    this.#model = model;
  }

  build(system: string, messages: readonly PromptMessage[]): LanguageModelV4Prompt {
    const prompt: LanguageModelV4Message[] = system === '' ? [] : [{ role: 'system', content: system }];
    for (const message of messages)
      for (const one of keptIn(this.#converted, message, () => this.fresh(message))) prompt.push(one);
    return prompt;
  }

  fresh(message: PromptMessage): readonly LanguageModelV4Message[] {
    switch (message.role) {
      case 'user':
        return [
          { role: 'user', content: [...textParts(message.text), ...(message.images ?? []).map(filePart)] },
        ];
      case 'assistant': {
        const content = withoutLooseReasoning(
          message.parts.flatMap((part) => this.#assistantPart(part, message.model === this.#model)),
        );
        return content.length === 0 ? [] : [{ role: 'assistant', content }];
      }
      case 'results':
        return resultMessages(message.results);
    }
  }

  #assistantPart(part: AssistantPart, own: boolean): AssistantMessage['content'] {
    const metadata = own && part.metadata !== undefined ? { providerOptions: part.metadata as Metadata } : {};
    switch (part.type) {
      case 'text':
        return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text, ...metadata }];
      case 'reasoning':
        // Reasoning is signed by its model; others refuse it.
        return own ? [{ type: 'reasoning', text: part.text, ...metadata }] : [];
      case 'call':
        return [
          { type: 'tool-call', toolCallId: part.id, toolName: part.name, input: objectOf(part), ...metadata },
        ];
    }
  }
}

/**
 * Cache breakpoints, which only Anthropic needs: the fork point, the end, and the ends of the requests before them, because a provider looks back a
 * limited number of blocks (Anthropic: 20) and one message may contain a hundred calls. Up to the fork point they depend only on the shared prefix, so
 * that related agents send identical bytes. At most four, Anthropic's limit.
 */
export function breakpoints(
  prompt: readonly { readonly role: string }[],
  fork_point: number,
): ReadonlySet<number> {
  const ends = [fork_point, prompt.length - 1];
  const asked = ends.map(
    (end) => prompt.findLastIndex((one, at) => at <= end && one.role === 'assistant') - 1,
  );
  return new Set([...ends, ...asked]);
}

/** Providers refuse reasoning at the end of an answer and without other content. */
function withoutLooseReasoning(content: AssistantMessage['content']): AssistantMessage['content'] {
  return content.slice(0, content.findLastIndex((part) => part.type !== 'reasoning') + 1);
}

/** Providers refuse blank text, so it is replaced by a note. */
function textParts(text: string): LanguageModelV4TextPart[] {
  return [{ type: 'text', text: text.trim() === '' ? '(empty)' : text }];
}

/** Ledgers of older versions may contain images for which a provider refuses the whole conversation. */
function filePart(image: Image): LanguageModelV4FilePart | LanguageModelV4TextPart {
  const fault = imageFault(image);
  if (fault !== null) return { type: 'text', text: `[A picture is left out: ${fault}]` };
  return { type: 'file', mediaType: image.media_type, data: { type: 'data', data: image.base64 } };
}

/** Providers require an object; other input is wrapped as text. */
function objectOf(call: CallPart): unknown {
  // The call's result says what was wrong.
  const read = call.read === undefined ? null : parsedObject(call.read.input);
  return parsedObject(call.input || '{}') ?? read ?? { invalid_arguments: call.input };
}

/** Results in one message; their images follow in a user message, which every provider supports. */
function resultMessages(results: readonly ResultContent[]): LanguageModelV4Message[] {
  const content = results.map((result): ToolMessage['content'][number] => ({
    type: 'tool-result',
    toolCallId: result.call_id,
    toolName: result.name,
    output: {
      type: result.status === 'ok' ? 'text' : 'error-text',
      value: result.output.trim() === '' ? '(no output)' : result.output,
    },
  }));
  const images = results.flatMap((result) => (result.images ?? []).map(filePart));
  if (images.length === 0) return [{ role: 'tool', content }];
  return [
    { role: 'tool', content },
    { role: 'user', content: [{ type: 'text', text: 'The pictures of the results above:' }, ...images] },
  ];
}

export function ownMetadata(metadata: unknown): { metadata: ProviderMetadata } | Record<never, never> {
  return metadata === undefined || metadata === null ? {} : { metadata: metadata as ProviderMetadata };
}
