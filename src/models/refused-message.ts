import { excerpt } from '../core/text.ts';

type Json = Readonly<Record<string, unknown>>;

const LISTS = ['messages', 'input', 'contents'] as const;
/**
 * Which message of a request a provider's refusal is about, for people: what it says of places (`messages.3.content.0`, `input[5].call_id`,
 * `contents[2]`) is looked up in the body that it was sent. Null where it names none.
 */
export function refusedMessage(said: string, body: unknown): string | null {
  const place =
    /\b(messages|input|contents)(?:\[(\d+)\]|\.(\d+))(?:\.(?:content|parts)(?:\[(\d+)\]|\.(\d+)))?/.exec(
      said,
    );
  if (place === null || !isJson(body)) return null;
  const [, list = '', ...numbers] = place;
  const [at, part] = [numbers[0] ?? numbers[1], numbers[2] ?? numbers[3]].map((text) =>
    text === undefined ? undefined : Number(text),
  );
  if (!LISTS.some((one) => one === list) || at === undefined) return null;
  const all = asList(body[list]);
  const message = all[at];
  if (!isJson(message)) return null;
  const pieces = asList(message.content ?? message.parts);
  const piece = part === undefined ? undefined : pieces[part];
  return describe(isJson(piece) ? piece : message, message, all);
}

function describe(piece: Json, message: Json, all: readonly unknown[]): string {
  const call = piece.functionCall ?? piece.function ?? piece;
  const name = isJson(call) && typeof call.name === 'string' ? call.name : null;
  const id =
    piece.tool_use_id ??
    piece.tool_call_id ??
    (piece.type === 'function_call_output' ? piece.call_id : undefined);
  if (id !== undefined) return `the result of ${calledAs(id, all)}`;
  if (isJson(piece.functionResponse)) return `the result of ${String(piece.functionResponse.name)}`;
  if (name !== null) return `the call of ${name}`;
  const type = String(piece.type ?? '');
  if (/image/.test(type) || isJson(piece.inlineData)) return 'a picture';
  if (/thinking|reasoning/.test(type) || piece.thought === true) return 'reasoning of the model';
  const calls = asList(piece.tool_calls).flatMap((one) =>
    isJson(one) && isJson(one.function) ? [String(one.function.name)] : [],
  );
  if (calls.length > 0 && textOf(piece) === '') return `the call of ${calls.join(', ')}`;
  const who = message.role === 'assistant' || message.role === 'model' ? 'the answer' : 'the message';
  return `${who} ${excerpt(textOf(piece))}`;
}

/** The name of the call with this id, wherever it stands. */
function calledAs(id: unknown, all: readonly unknown[]): string {
  const calls = all.flatMap((one) =>
    isJson(one) ? [one, ...asList(one.content), ...asList(one.tool_calls)] : [],
  );
  for (const call of calls) {
    if (!isJson(call) || (call.id !== id && (call.type !== 'function_call' || call.call_id !== id))) continue;
    const { name } = isJson(call.function) ? call.function : call;
    if (typeof name === 'string') return name;
  }
  return 'a call';
}

function textOf(piece: Json): string {
  if (typeof piece.text === 'string') return piece.text;
  if (typeof piece.content === 'string') return piece.content;
  return asList(piece.content ?? piece.parts)
    .map((one) => (isJson(one) && typeof one.text === 'string' ? one.text : ''))
    .join('');
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
