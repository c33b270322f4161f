import type { PlacedMessage } from '../../records/conversation/message.ts';
import { cutText } from '../../records/text/cut-text.ts';
import { outputText } from '../../records/text/untrusted-text.ts';
import type { Store } from '../../store/store.ts';
import { ATTRIBUTE } from './conventions.ts';
import type { Attributes, OtelSpan } from './otlp.ts';
import type { ExportedTurn } from './turn-spans.ts';

const MESSAGES_MAX = 1_000;
/** Maximum characters; longer texts are cut, because receivers refuse large requests. */
const TEXT_MAX = 16_000;

/** Spans of a turn with contents: answers, arguments and results of calls, and the message that began the turn. */
export async function withContents(store: Store, turn: ExportedTurn): Promise<readonly OtelSpan[]> {
  const messages = await store.history(turn.agent_id, turn.seq - 1, MESSAGES_MAX);
  const answers = new Map(messages.map((message) => [message.seq, message]));
  const results = new Map(
    messages.flatMap((message) =>
      message.kind === 'result' ? [[message.content.call_id, outputText(message.content)] as const] : [],
    ),
  );
  const contents = (span: OtelSpan, index: number): Attributes => {
    if (index === 0) return begun(answers.get(turn.seq));
    const source = turn.sources.get(span.span_id);
    const answer = source === undefined ? undefined : answers.get(source.seq);
    if (source === undefined || answer?.kind !== 'assistant') return {};
    const { parts } = answer.content;
    if (source.call_id === null) return said(ATTRIBUTE.output_messages, 'assistant', textOf(answer));
    const call = parts.find((part) => part.type === 'call' && part.id === source.call_id);
    const result = results.get(source.call_id);
    return {
      ...(call?.type === 'call' ? { [ATTRIBUTE.tool_arguments]: cut(call.input) } : {}),
      ...(result === undefined ? {} : { [ATTRIBUTE.tool_result]: cut(result) }),
    };
  };
  return turn.spans.map((span, index) => ({
    ...span,
    attributes: { ...span.attributes, ...contents(span, index) },
  }));
}

function begun(message: PlacedMessage | undefined): Attributes {
  return message?.kind === 'user' ? said(ATTRIBUTE.input_messages, 'user', message.content.text) : {};
}

function textOf(message: Extract<PlacedMessage, { kind: 'assistant' }>): string {
  return message.content.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
}

function said(name: string, role: string, text: string): Attributes {
  return { [name]: JSON.stringify([{ role, parts: [{ type: 'text', content: cut(text) }] }]) };
}

function cut(text: string): string {
  return cutText(text, TEXT_MAX, '…');
}
