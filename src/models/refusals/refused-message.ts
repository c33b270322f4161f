import type { PromptMessage } from '../../records/conversation/prompt-message.ts';
import { isJsonObject, type JsonObject } from '../../records/text/json-text.ts';

/**
 * The index of the message that a provider refused: a location named in the error (`messages.3.content.0`, `input[5].call_id`, `contents[2]`) is looked up in
 * the request body. -1 if the error names none of these messages.
 */
export function refusedMessage(said: string, body: unknown, messages: readonly PromptMessage[]): number {
  const place =
    /\b(messages|input|contents)(?:\[(\d+)\]|\.(\d+))(?:\.(?:content|parts)(?:\[(\d+)\]|\.(\d+)))?/.exec(
      said,
    );
  if (place === null || !isJsonObject(body)) return -1;
  const [, list = '', ...numbers] = place;
  const all = asList(body[list]);
  const message = all[Number(numbers[0] ?? numbers[1])];
  if (!isJsonObject(message)) return -1;
  const piece = asList(message.content ?? message.parts)[Number(numbers[2] ?? numbers[3])];
  return indexOf(isJsonObject(piece) ? piece : piecesOf(message)[0], all, messages);
}

/**
 * Maps a piece of the body back to the index of its message (-1 if unknown): calls and results by their order, which every protocol keeps, texts by content.
 */
function indexOf(piece: unknown, all: readonly unknown[], messages: readonly PromptMessage[]): number {
  const sent = all.flatMap(piecesOf);
  const ours = messages.flatMap((message, index) => kindsOf(message).map((kind) => ({ kind, index })));
  for (let at = sent.indexOf(piece); at >= 0; at -= 1) {
    const kind = kindOf(sent[at]);
    if (kind === null) return -1;
    const before = sent.slice(0, at).filter((one) => kindOf(one) === kind).length;
    const found = ours.filter((one) => one.kind === kind)[before];
    if (found !== undefined) return found.index;
    // The piece is an image or its caption, which follow their result.
    if (kind === 'call' || kind === 'result') return -1;
  }
  return -1;
}

function piecesOf(message: unknown): readonly unknown[] {
  if (!isJsonObject(message) || message.role === 'tool') return [message];
  const calls = asList(message.tool_calls);
  const pieces = asList(message.content ?? message.parts);
  return calls.length > 0 ? [...calls, ...pieces] : pieces.length > 0 ? pieces : [message];
}

function kindOf(piece: unknown): string | null {
  if (!isJsonObject(piece)) return null;
  const type = String(piece.type ?? '');
  if (
    piece.role === 'tool' ||
    isJsonObject(piece.functionResponse) ||
    /^(tool_result|function_call_output)$/.test(type)
  )
    return 'result';
  if (
    isJsonObject(piece.functionCall) ||
    isJsonObject(piece.function) ||
    /^(tool_use|function_call)$/.test(type)
  )
    return 'call';
  if (/thinking|reasoning/.test(type) || piece.thought === true) return null;
  return `text ${pieceText(piece)}`;
}

function kindsOf(message: PromptMessage): readonly string[] {
  if (message.role === 'user') return [`text ${message.text}`];
  if (message.role === 'results') return message.results.map(() => 'result');
  return message.parts.flatMap((part) =>
    part.type === 'call' ? ['call'] : part.type === 'text' ? [`text ${part.text}`] : [],
  );
}

function pieceText(piece: JsonObject): string {
  if (typeof piece.text === 'string') return piece.text;
  if (typeof piece.content === 'string') return piece.content;
  return asList(piece.content ?? piece.parts)
    .map((one) => (isJsonObject(one) && typeof one.text === 'string' ? one.text : ''))
    .join('');
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
