import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { wellFormedJson } from '../../records/text/json-text.ts';
import type { Quirks } from '../provider/provider-config.ts';
import { ChatReader, TAG, THOUGHTS, type Thoughts } from './chat-reader.ts';
import { ALONE, type WirePiece, type WireProtocol } from './wire-protocol.ts';

/** Stands between results and a message of the user, for servers that refuse one after the other. */
const BRIDGE = JSON.stringify({ role: 'assistant', content: 'I have read the results.' });

/** Chat Completions, as OpenAI-compatible servers speak it. `provider`: the key under which the provider package keeps its metadata. */
export function chatWire(provider: string, { omit = [], userAfterResults = true }: Quirks): WireProtocol {
  return {
    userMessage: (text) => wellFormedJson({ role: 'user', content: text }),
    write: (message) => write(message, provider, omit),
    ...ALONE,
    ...(userAfterResults ? {} : { join: joinBridged }),
    reader: (collector) => new ChatReader(collector, provider),
  };
}

const joinBridged: WireProtocol['join'] = (pieces, ...range) => {
  const isBridged = ({ role }: WirePiece, at: number) => role === 'user' && pieces[at - 1]?.role === 'tool';
  const bridged = pieces.map((piece, at) =>
    isBridged(piece, at) ? { ...piece, json: `${BRIDGE},${piece.json}` } : piece,
  );
  return ALONE.join(bridged, ...range);
};

function write(
  { role, content }: LanguageModelV4Message,
  provider: string,
  omit: readonly string[],
): readonly object[] {
  switch (role) {
    case 'system':
      return [{ role, content }];
    case 'user': {
      const [only, ...more] = content;
      if (only?.type === 'text' && more.length === 0) return [{ role, content: only.text }];
      const parts = content.map((part) =>
        part.type === 'text'
          ? { type: 'text', text: part.text }
          : { type: 'image_url', image_url: { url: dataUrl(part) } },
      );
      return [{ role, content: parts }];
    }
    case 'assistant': {
      let text = '';
      const thoughts: Record<string, unknown> = {};
      const tool_calls = [];
      for (const part of content) {
        const own = part.providerOptions?.[provider];
        if (part.type === 'text') text += part.text;
        else if (part.type === 'reasoning') {
          const { field = 'reasoning_content', details } = (own?.[THOUGHTS] ?? {}) as Thoughts;
          if (field === TAG) text += `<${TAG}>${part.text}</${TAG}>\n\n`;
          else if (details === undefined) thoughts[field] = `${thoughts[field] ?? ''}${part.text}`;
          else thoughts.reasoning_details = details;
        } else if (part.type === 'tool-call') {
          const thought_signature = own?.thoughtSignature ?? part.providerOptions?.google?.thoughtSignature;
          tool_calls.push({
            id: part.toolCallId,
            type: 'function',
            function: { name: part.toolName, arguments: wellFormedJson(part.input) },
            ...(thought_signature ? { extra_content: { google: { thought_signature } } } : {}),
          });
        }
      }
      const refused = (field: string) => omit.includes(`messages.${field}`);
      const message = {
        role,
        content: tool_calls.length > 0 ? text || null : text,
        ...Object.fromEntries(
          Object.entries(thoughts).filter(([field, one]) => one !== '' && !refused(field)),
        ),
        ...(tool_calls.length > 0 ? { tool_calls } : {}),
      };
      return [message];
    }
    case 'tool':
      return content.flatMap((part) =>
        part.type === 'tool-result' && 'value' in part.output
          ? [{ role, tool_call_id: part.toolCallId, content: part.output.value }]
          : [],
      );
  }
}

export function dataUrl(part: { readonly mediaType: string; readonly data: unknown }): string {
  const { data } = part.data as { readonly data: string };
  return `data:${part.mediaType};base64,${data}`;
}
