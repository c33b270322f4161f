import type { PlacedMessage } from '../../records/conversation/message.ts';
import { cutText } from '../../records/text/cut-text.ts';
import { outputText } from '../../records/text/untrusted-text.ts';
import type { Store } from '../../store/store.ts';
import { ATTRIBUTE } from './conventions.ts';
import type { Attributes, OtelSpan } from './otlp.ts';
import type { ExportedTurn } from './turn-spans.ts';

const MESSAGES_MAX = 1_000;
/** Messages before the turn that its first request is shown with. */
const BEFORE_MAX = 50;
/** Maximum characters of a text, and of the messages of a request together; longer ones are cut, because receivers refuse large requests. */
const TEXT_MAX = 16_000;

/** Spans of a turn with what their messages tell: of each answer what its provider said of it; and, with `contents`, what was said. */
export async function withMessages(
  store: Store,
  turn: ExportedTurn,
  contents: boolean,
): Promise<readonly OtelSpan[]> {
  const from = Math.max(0, turn.seq - 1 - (contents ? BEFORE_MAX : 0));
  const messages = await store.history(turn.agent_id, from, MESSAGES_MAX + turn.seq - 1 - from);
  const told = (span: OtelSpan, index: number): Attributes => {
    const source = turn.sources.get(span.span_id);
    const at = messages.findIndex(({ seq }) => seq === (index === 0 ? turn.seq : source?.seq));
    const message = messages[at];
    if (message === undefined) return {};
    if (index === 0) return contents ? { [ATTRIBUTE.input_messages]: messagesJson([message]) } : {};
    if (message.kind !== 'assistant') return {};
    const { content, seq } = message;
    if (source?.call_id === null)
      return {
        ...factsOf(content),
        ...(contents && {
          [ATTRIBUTE.input_messages]: messagesJson(messages.slice(0, at)),
          [ATTRIBUTE.output_messages]: messagesJson([message]),
        }),
      };
    const call = content.parts.find((part) => part.type === 'call' && part.id === source?.call_id);
    const isResult = (one: PlacedMessage) => one.kind === 'result' && one.content.call_id === source?.call_id;
    const result = messages.find((one) => one.seq > seq && isResult(one));
    if (!contents || call?.type !== 'call') return {};
    return {
      [ATTRIBUTE.tool_arguments]: cut(call.input),
      [ATTRIBUTE.tool_result]: result?.kind === 'result' ? cut(outputText(result.content)) : undefined,
    };
  };
  return turn.spans.map((span, index) => ({
    ...span,
    attributes: { ...span.attributes, ...told(span, index) },
  }));
}

type Answer = Extract<PlacedMessage, { kind: 'assistant' }>['content'];

function factsOf(content: Answer): Attributes {
  const { id, model, cache_written, first_ms } = content.response ?? {};
  return {
    [ATTRIBUTE.finish_reasons]: [content.reason ?? finishOf(content)],
    [ATTRIBUTE.response_id]: id,
    [ATTRIBUTE.response_model]: model,
    [ATTRIBUTE.cache_written_tokens]: cache_written,
    [ATTRIBUTE.time_to_first_chunk]: first_ms === undefined ? undefined : first_ms / 1_000,
  };
}

const FINISH = { length: 'length', refused: 'content_filter', interrupted: 'error' } as const;

function finishOf({ finish, parts }: Answer): string {
  if (finish !== undefined) return FINISH[finish];
  return parts.some(({ type }) => type === 'call') ? 'tool_call' : 'stop';
}

/** The newest of the messages, as far as they fit. */
function messagesJson(messages: readonly PlacedMessage[]): string {
  const texts: string[] = [];
  let left = TEXT_MAX;
  for (const message of messages.toReversed()) {
    const text = saidIn(message);
    left -= text?.length ?? 0;
    if (left < 0 && texts.length > 0) break;
    if (text !== null) texts.unshift(text);
  }
  return `[${texts.join()}]`;
}

/** JSON of a message in the form of the conventions; null if no model saw it. */
function saidIn({ kind, content }: PlacedMessage): string | null {
  if (kind === 'user')
    return JSON.stringify({ role: 'user', parts: [{ type: 'text', content: cut(content.text) }] });
  if (kind === 'result') {
    const part = { type: 'tool_call_response', id: content.call_id, response: cut(outputText(content)) };
    return JSON.stringify({ role: 'tool', parts: [part] });
  }
  if (kind !== 'assistant') return null;
  const parts = content.parts.map((part) =>
    part.type === 'call'
      ? { type: 'tool_call', id: part.id, name: part.name, arguments: cut(part.input) }
      : { type: part.type, content: cut(part.text) },
  );
  return JSON.stringify({ role: 'assistant', parts, finish_reason: finishOf(content) });
}

function cut(text: string): string {
  return cutText(text, TEXT_MAX, '…');
}
