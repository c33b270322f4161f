import type { PromptMessage } from '../../records/conversation/prompt-message.ts';
import { isJsonObject, type JsonObject } from '../../records/text/json-text.ts';
import { excerpt } from '../../records/text/text.ts';

const LISTS = ['messages', 'input', 'contents'] as const;

export interface Refused {
  /** Description for people. */
  readonly told: string;
  /** Index of the message; -1 if unknown. */
  readonly index: number;
}

/**
 * Finds the message that a provider refused: a location named in the error (`messages.3.content.0`, `input[5].call_id`, `contents[2]`) is
 * looked up in the request body. Null if the error names none.
 */
export function refusedMessage(
  said: string,
  body: unknown,
  messages: readonly PromptMessage[],
): Refused | null {
  const place =
    /\b(messages|input|contents)(?:\[(\d+)\]|\.(\d+))(?:\.(?:content|parts)(?:\[(\d+)\]|\.(\d+)))?/.exec(
      said,
    );
  if (place === null || !isJsonObject(body)) return null;
  const [, list = '', ...numbers] = place;
  const [at, part] = [numbers[0] ?? numbers[1], numbers[2] ?? numbers[3]].map((text) =>
    text === undefined ? undefined : Number(text),
  );
  if (!LISTS.some((one) => one === list) || at === undefined) return null;
  const all = asList(body[list]);
  const message = all[at];
  if (!isJsonObject(message)) return null;
  const pieces = asList(message.content ?? message.parts);
  const piece = part === undefined ? undefined : pieces[part];
  const told = describePiece(isJsonObject(piece) ? piece : message, message, all);
  return { told, index: indexOf(isJsonObject(piece) ? piece : piecesOf(message)[0], all, messages) };
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

function describePiece(piece: JsonObject, message: JsonObject, all: readonly unknown[]): string {
  const call = piece.functionCall ?? piece.function ?? piece;
  const name = isJsonObject(call) && typeof call.name === 'string' ? call.name : null;
  const id =
    piece.tool_use_id ??
    piece.tool_call_id ??
    (piece.type === 'function_call_output' ? piece.call_id : undefined);
  if (id !== undefined) return `the result of ${calledAs(id, all)}`;
  if (isJsonObject(piece.functionResponse)) return `the result of ${String(piece.functionResponse.name)}`;
  if (name !== null) return `the call of ${name}`;
  const type = String(piece.type ?? '');
  if (/image/.test(type) || isJsonObject(piece.inlineData)) return 'a picture';
  if (/thinking|reasoning/.test(type) || piece.thought === true) return 'reasoning of the model';
  const calls = asList(piece.tool_calls).flatMap((one) =>
    isJsonObject(one) && isJsonObject(one.function) ? [String(one.function.name)] : [],
  );
  if (calls.length > 0 && pieceText(piece) === '') return `the call of ${calls.join(', ')}`;
  const who = message.role === 'assistant' || message.role === 'model' ? 'the answer' : 'the message';
  return `${who} ${excerpt(pieceText(piece))}`;
}

/** Searches the body for the name of the call with this id. */
function calledAs(id: unknown, all: readonly unknown[]): string {
  const calls = all.flatMap((one) =>
    isJsonObject(one) ? [one, ...asList(one.content), ...asList(one.tool_calls)] : [],
  );
  for (const call of calls) {
    if (!isJsonObject(call) || (call.id !== id && (call.type !== 'function_call' || call.call_id !== id)))
      continue;
    const { name } = isJsonObject(call.function) ? call.function : call;
    if (typeof name === 'string') return name;
  }
  return 'a call';
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
