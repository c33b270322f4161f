import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { wellFormedJson } from '../../records/text/json-text.ts';
import { dataUrl } from './chat-wire.ts';
import { ResponsesReader } from './responses-reader.ts';
import { ALONE, type WireProtocol } from './wire-protocol.ts';

/** OpenAI Responses without storage at OpenAI: items are sent back completely, reasoning encrypted. */
export const RESPONSES_WIRE: WireProtocol = {
  userMessage: (text) => wellFormedJson({ role: 'user', content: [{ type: 'input_text', text }] }),
  write: items,
  ...ALONE,
  reader: (collector) => new ResponsesReader(collector),
};

function items(message: LanguageModelV4Message): readonly object[] {
  switch (message.role) {
    case 'system':
      return [message];
    case 'user': {
      const content = message.content.map((part) =>
        part.type === 'text'
          ? { type: 'input_text', text: part.text }
          : { type: 'input_image', image_url: dataUrl(part) },
      );
      return [{ role: 'user', content }];
    }
    case 'assistant':
      return answerItems(message.content);
    case 'tool':
      return message.content.flatMap((part) => {
        if (part.type !== 'tool-result' || !('value' in part.output)) return [];
        const { type, value } = part.output;
        // The protocol has no other way to mark an error.
        const output = type === 'error-text' ? wellFormedJson({ error: value }) : value;
        return [{ type: 'function_call_output', call_id: part.toolCallId, output }];
      });
  }
}

interface ReasoningItem {
  readonly type: 'reasoning';
  readonly id?: string;
  encrypted_content: string | null;
  readonly summary: { readonly type: 'summary_text'; readonly text: string }[];
}

/** Reasoning parts with the same id form one item; unencrypted reasoning cannot be sent back. */
function answerItems(content: Extract<LanguageModelV4Message, { role: 'assistant' }>['content']): object[] {
  const reasoning = new Map<string, ReasoningItem>();
  const all: object[] = [];
  for (const part of content) {
    const own =
      (part.type === 'text' || part.type === 'reasoning' ? part.providerOptions?.openai : null) ?? {};
    if (part.type === 'text') {
      const phase = own.phase ?? null;
      all.push({ role: 'assistant', content: part.text, ...(phase === null ? {} : { phase }) });
    } else if (part.type === 'tool-call') {
      const { toolCallId: call_id, toolName: name, input } = part;
      all.push({ type: 'function_call', call_id, name, arguments: wellFormedJson(input) });
    } else if (part.type === 'reasoning') {
      const { itemId: id, reasoningEncryptedContent: sealed } = own as Record<
        string,
        string | null | undefined
      >;
      const summary = part.text === '' ? [] : [{ type: 'summary_text' as const, text: part.text }];
      const known = id == null ? undefined : reasoning.get(id);
      if (known !== undefined) {
        known.summary.push(...summary);
        known.encrypted_content = sealed ?? known.encrypted_content;
        continue;
      }
      const item: ReasoningItem = {
        type: 'reasoning',
        ...(id == null ? {} : { id }),
        encrypted_content: sealed ?? null,
        summary,
      };
      if (id != null) reasoning.set(id, item);
      all.push(item);
    }
  }
  return all.filter((item) => !('encrypted_content' in item) || item.encrypted_content !== null);
}
