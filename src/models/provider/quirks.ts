import { APICallError } from '@ai-sdk/provider';
import { isJsonObject } from '../../records/text/json-text.ts';
import type { ToolSpec } from '../../records/tool.ts';
import type { Quirks } from './provider-config.ts';

/** Fields without which a request says something else. */
const KEPT = new Set(['model', 'messages', 'input', 'contents', 'tools', 'stream', 'system', 'instructions']);
const KEPT_OF_MESSAGES = new Set(['role', 'content', 'name', 'tool_calls', 'tool_call_id', 'parts', 'type']);
const REFUSES =
  /unsupported|not (?:be )?(?:supported|permitted|allowed|recognized|valid|available|accepted)|(?:does|do) not support|doesn't support|unrecognized|unknown|unexpected|invalid|extra inputs|extra fields|additional propert|cannot|verified/i;
const AFTER_RESULTS =
  /role\W{0,3}user\W{0,3} after role\W{0,3}tool|roles must alternate|after (?:the )?tool (?:role|message|result)s?/i;
const NO_SYSTEM =
  /system role (?:is )?not supported|does not support\W{0,3}system|role\W{0,3}system\W{0,3} is not/i;

/** How OpenAI once said it of every tool, and how Azure, gateways and servers in Python do; not about the description of a field. */
const TOO_LONG =
  /\b(?:tool|function)[\s\S]{0,60}?(?<!(?:parameters|schema)\S{0,200})\bdescription\b[\s\S]{0,120}?\b(?:max\w*|most|limit\w*|than|exceeds?|up to)\D{0,40}(\d{2,6})/i;

/**
 * What the server does not take, added to what is known, if its refusal names a field, a parameter or a role of the request that it can do without; null if
 * it does not, or that was left out already.
 */
export function quirksIn(error: unknown, known: Quirks): Quirks | null {
  if (!APICallError.isInstance(error) || (error.statusCode !== 400 && error.statusCode !== 422)) return null;
  const said = `${error.message} ${error.responseBody ?? ''}`;
  if (AFTER_RESULTS.test(said) && known.userAfterResults !== false)
    return { ...known, userAfterResults: false };
  if (NO_SYSTEM.test(said) && known.systemRole !== false) return { ...known, systemRole: false };
  if (!REFUSES.test(said)) return null;
  const words = new Set(
    said.match(/[\w.]+/g)?.flatMap((word) => [word, word.slice(word.lastIndexOf('.') + 1)]),
  );
  // A place in the messages is about them, and not about an option of the same name.
  const [ofMessages, ofBody] = fieldsOf(error.requestBodyValues);
  const named = [
    ...ofMessages.filter((field) => words.has(field)).map((field) => `messages.${field}`),
    ...(/\b(messages|input|contents)\W{0,3}\d/.test(said) ? [] : ofBody.filter((path) => words.has(path))),
  ];
  // The deepest: a refused `reasoning.summary` is no reason to do without reasoning.
  const path = named.toSorted((one, other) => depth(other) - depth(one))[0];
  const omit = known.omit ?? [];
  return path === undefined || omit.includes(path) ? null : { ...known, omit: [...omit, path] };
}

/** The maximum length of descriptions of tools, if a refusal names it and one of them is longer. */
export function longDescription(error: unknown, known: Quirks, tools: readonly ToolSpec[]): Quirks | null {
  if (!APICallError.isInstance(error)) return null;
  const max = Number(TOO_LONG.exec(`${error.message} ${error.responseBody ?? ''}`)?.[1] ?? Number.NaN);
  const { toolDescriptionMax: had = Number.POSITIVE_INFINITY } = known;
  const is_new = max < had && tools.some(({ description }) => description.length > max);
  return is_new ? { ...known, toolDescriptionMax: max } : null;
}

/** Whether a refusal is about something that was left out. */
export function misses(error: unknown, { omit = [] }: Quirks): boolean {
  const said = APICallError.isInstance(error) ? `${error.message} ${error.responseBody ?? ''}` : '';
  return omit.some((path) => said.includes(path.slice(path.lastIndexOf('.') + 1)));
}

function depth(path: string): number {
  return path.split('.').length;
}

/** Fields that can be left out: of messages, such as `reasoning_content`, and paths in the body, such as `stream_options` and `reasoning.summary`. */
function fieldsOf(body: unknown): readonly [ofMessages: readonly string[], ofBody: readonly string[]] {
  if (!isJsonObject(body)) return [[], []];
  const own = Object.keys(body).filter((key) => !KEPT.has(key));
  const nested = own.flatMap((key) => {
    const value = body[key];
    return isJsonObject(value) ? Object.keys(value).map((field) => `${key}.${field}`) : [];
  });
  const messages = Array.isArray(body.messages) ? body.messages.filter(isJsonObject) : [];
  const blocks = messages.flatMap(({ content }) =>
    Array.isArray(content) ? content.filter(isJsonObject) : [],
  );
  const unsigned = blocks.some(({ type, signature }) => type === 'thinking' && signature === undefined);
  const fields = new Set(messages.flatMap((message) => Object.keys(message)));
  return [
    [...[...fields].filter((key) => !KEPT_OF_MESSAGES.has(key)), ...(unsigned ? ['thinking'] : [])],
    [...own, ...nested],
  ];
}

export function withoutFields(body: unknown, paths: readonly string[]): unknown {
  if (!isJsonObject(body) || paths.length === 0) return body;
  return Object.fromEntries(
    Object.entries(body).flatMap(([key, value]) => {
      if (paths.includes(key)) return [];
      const inner = paths.flatMap((path) => (path.startsWith(`${key}.`) ? [path.slice(key.length + 1)] : []));
      return [[key, isJsonObject(value) ? withoutFields(value, inner) : value]];
    }),
  );
}
