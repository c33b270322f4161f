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
import type { PromptMessage } from '../../records/conversation/prompt.ts';
import { parseJson } from '../../records/text/json-text.ts';

type AssistantMessage = Extract<LanguageModelV4Message, { role: 'assistant' }>;
type ToolMessage = Extract<LanguageModelV4Message, { role: 'tool' }>;
type Metadata = NonNullable<LanguageModelV4Message['providerOptions']>;

/**
 * Our conversation in the shape of the provider packages. Messages are converted once per model: relatives share the objects of
 * their common prefix, so a thousand forks convert it a single time.
 */
export class ProviderPrompt {
  readonly #model: string;
  readonly #converted = new WeakMap<PromptMessage, readonly LanguageModelV4Message[]>();

  /** `model` is the full `provider/model`: reasoning and private metadata of any other model are left out. */
  constructor(model: string) {
    this.#model = model;
  }

  build(system: string, messages: readonly PromptMessage[]): LanguageModelV4Prompt {
    const prompt: LanguageModelV4Message[] = system === '' ? [] : [{ role: 'system', content: system }];
    for (const message of messages) {
      let converted = this.#converted.get(message);
      if (converted === undefined) {
        converted = this.fresh(message);
        this.#converted.set(message, converted);
      }
      for (const one of converted) prompt.push(one);
    }
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
        // Signed by the model that wrote it; another one would refuse it.
        return own ? [{ type: 'reasoning', text: part.text, ...metadata }] : [];
      case 'call':
        return [
          { type: 'tool-call', toolCallId: part.id, toolName: part.name, input: objectOf(part), ...metadata },
        ];
    }
  }
}

/**
 * Where a cached prefix may end; only Anthropic wants to be told: the fork point, the end, and where the requests that led to them ended: providers look back a bounded number of blocks (Anthropic: 20)
 * for something cached, and one message may hold a hundred calls. Up to the fork point the choice depends on the shared prefix alone, so
 * that relatives send the same bytes. Four at most, as many as Anthropic takes.
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

/** Reasoning goes back only together with what it led to: providers refuse it at the end of an answer, and as an answer of its own. */
function withoutLooseReasoning(content: AssistantMessage['content']): AssistantMessage['content'] {
  return content.slice(0, content.findLastIndex((part) => part.type !== 'reasoning') + 1);
}

/** Providers refuse empty text; a message of nothing but spaces says so. */
function textParts(text: string): LanguageModelV4TextPart[] {
  return [{ type: 'text', text: text.trim() === '' ? '(empty)' : text }];
}

/** Ledgers of older versions hold pictures that some provider refuses, and with them the whole conversation. */
function filePart(image: Image): LanguageModelV4FilePart | LanguageModelV4TextPart {
  const fault = imageFault(image);
  if (fault !== null) return { type: 'text', text: `[A picture is left out: ${fault}]` };
  return { type: 'file', mediaType: image.media_type, data: { type: 'data', data: image.base64 } };
}

/** Providers demand an object; what was none is shown as the text it was. */
function objectOf(call: CallPart): unknown {
  const parsed = parseJson(call.input === '' ? '{}' : call.input);
  if (parsed.ok && typeof parsed.value === 'object' && parsed.value !== null && !Array.isArray(parsed.value))
    return parsed.value;
  // Why is said in the result of the call.
  return { invalid_arguments: call.input };
}

/** Results in one message; pictures follow in a user message, which every provider understands. */
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
