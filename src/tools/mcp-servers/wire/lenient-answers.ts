import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { fieldsOf } from '../../../records/text/json-fields.ts';
import { isJsonObject, type JsonObject, jsonIn } from '../../../records/text/json-text.ts';

/** JSON-RPC's code for an internal error of the answering side. */
const INVALID_ANSWER = -32603;
/** Where an answer is passed on as the server gave it: the protocol library would refuse all of it for one field. */
const RAW = 'coppice/answer';
const METHODS = [
  ...['initialize', 'tools/list', 'tools/call'],
  ...['prompts/list', 'prompts/get', 'resources/list', 'resources/read'],
];

/** Reads a server's messages for what they mean, before the protocol library validates them: a side field of another type never costs an answer. */
export class LenientAnswers {
  /** Methods of open requests whose answers we read ourselves. */
  readonly #asked = new Map<unknown, string>();

  /** Watches the requests that are sent. */
  watch(transport: Pick<Transport, 'send'>): void {
    const send = transport.send.bind(transport);
    transport.send = (message, options) => {
      if ('method' in message && 'id' in message && METHODS.includes(message.method))
        this.#asked.set(message.id, message.method);
      return send(message, options);
    };
  }

  /** The messages in one value; a batch has several. What is no message at all is dropped. */
  read(value: unknown): readonly JSONRPCMessage[] {
    if (Array.isArray(value)) return value.flatMap((one) => this.read(one));
    if (!isJsonObject(value)) return [];
    const { id, method, params, result, error } = value;
    if (method !== undefined) return [{ ...value, params: params ?? undefined } as unknown as JSONRPCMessage];
    const asked = typeof id === 'string' && /^\d+$/.test(id) ? Number(id) : id;
    const meant = this.#asked.get(asked);
    this.#asked.delete(asked);
    const frame = { jsonrpc: '2.0', id: asked };
    const answer = error == null ? answerTo(meant, result) : null;
    if (answer !== null) return [{ ...frame, result: answer } as JSONRPCMessage];
    return [{ ...frame, error: errorOf(error) } as JSONRPCMessage];
  }

  /** The same for the text of a body, or of an event: text that is no JSON stays. */
  *texts(text: string): Generator<string> {
    const value = jsonIn(text);
    if (value === undefined) return yield text;
    for (const message of this.read(value)) yield JSON.stringify(message);
  }
}

/** The server's own answer to a request for its tools, or to a call. */
export function givenAnswer(answer: unknown): JsonObject {
  const meta = fieldsOf(fieldsOf(answer)._meta);
  const given = RAW in meta ? meta[RAW] : answer;
  return isJsonObject(given) ? given : { content: given };
}

/** Returns null if this is no answer. */
function answerTo(method: string | undefined, result: unknown): JsonObject | null {
  const fields = isJsonObject(result) ? result : null;
  if (fields?.resultType === 'input_required') return fields;
  const given = { resultType: 'complete', _meta: { [RAW]: result } };
  switch (method) {
    case 'tools/list':
    case 'prompts/list':
    case 'resources/list':
      return fields && { ...given, [method.replace('/list', '')]: [], ttlMs: 0, cacheScope: 'private' };
    case 'prompts/get':
      return fields && { ...given, messages: [] };
    case 'resources/read':
      return fields && { ...given, contents: [], ttlMs: 0, cacheScope: 'private' };
    case 'tools/call':
      return result === undefined ? null : { ...given, content: [] };
    case 'initialize': {
      if (fields === null) return null;
      const { protocolVersion, capabilities, serverInfo, instructions, _meta } = fields;
      const { name, version } = fieldsOf(serverInfo);
      const able = Object.entries(fieldsOf(capabilities)).filter(([, one]) => isJsonObject(one));
      return {
        ...{ protocolVersion, capabilities: Object.fromEntries(able) },
        serverInfo: { name: String(name ?? ''), version: String(version ?? '') },
        ...(typeof instructions === 'string' && { instructions }),
        ...(isJsonObject(_meta) && { _meta }),
      };
    }
    default:
      return fields && { ...fields, _meta: isJsonObject(fields._meta) ? fields._meta : undefined };
  }
}

function errorOf(error: unknown): object {
  if (error == null) return { code: INVALID_ANSWER, message: 'its answer violates the protocol' };
  const { code, message, data } = isJsonObject(error) ? error : { message: error };
  const text = typeof message === 'string' ? message : JSON.stringify(message ?? error);
  return { code: Number.isSafeInteger(Number(code)) ? Number(code) : INVALID_ANSWER, message: text, data };
}
