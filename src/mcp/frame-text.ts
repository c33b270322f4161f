import { CLIENT_CAPABILITIES_META_KEY, ProtocolErrorCode } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { fieldsOf } from '../records/text/json-fields.ts';
import { isJsonObject, jsonSizeFault } from '../records/text/json-text.ts';
import { TASKS_EXTENSION } from './durable-tasks.ts';

/** One incoming message of a client as text: one that is too large is refused here, before anything traverses it. */

export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;

export interface Refused {
  readonly ok: false;
  readonly code: number;
  readonly message: string;
  readonly data?: object;
  /** Absent if the id cannot be read. */
  readonly id?: string | number;
}

export type Frame = Refused | { readonly ok: true; readonly value: unknown };

/** Parses one message, whose size in bytes the caller has checked. Never throws. */
export function readFrame(text: string): Frame {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { ok: false, code: PARSE_ERROR, message: `this is not JSON: ${(error as Error).message}` };
  }
  const fault = jsonSizeFault(text);
  if (fault === null)
    return asksForTasks(value) ? { ...NO_TASKS, ...withId(value) } : { ok: true, value: withoutNulls(value) };
  const message = `this message is too large: ${fault}. Write long texts to files, and name these in the prompt or in read_first`;
  // A message without a method is an answer: its id is that of a request of ours, so it is not used.
  const is_request = typeof value === 'object' && value !== null && 'method' in value;
  return { ok: false, code: INVALID_REQUEST, message, ...(is_request ? withId(value) : {}) };
}

/** Clients write `null` for params, arguments, `_meta` and tokens that they do not have; the library would refuse the request. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isJsonObject(value) || typeof value.method !== 'string' || !('params' in value)) return value;
  const { params, ...rest } = value;
  if (!isJsonObject(params)) return params === null ? rest : value;
  const { _meta: meta, arguments: given, ...others } = params;
  const { progressToken: token, ...named } = fieldsOf(meta);
  const _meta = token === null ? named : meta;
  return {
    ...rest,
    params: { ...others, ...(_meta != null && { _meta }), ...(given != null && { arguments: given }) },
  };
}

const NO_TASKS = {
  ok: false,
  code: ProtocolErrorCode.MissingRequiredClientCapability,
  message: `notifications of tasks are for clients with the extension ${TASKS_EXTENSION}`,
  data: { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } },
} as const;

/** Whether a client without the tasks extension subscribes to tasks: the library answers `subscriptions/listen` itself and does not check this. */
function asksForTasks(value: unknown): boolean {
  const read = listen.safeParse(value);
  return (
    read.success &&
    read.data.params._meta?.[CLIENT_CAPABILITIES_META_KEY]?.extensions?.[TASKS_EXTENSION] === undefined
  );
}

const listen = z.looseObject({
  method: z.literal('subscriptions/listen'),
  params: z.looseObject({
    notifications: z.looseObject({ taskIds: z.array(z.unknown()) }),
    _meta: z
      .looseObject({
        [CLIENT_CAPABILITIES_META_KEY]: z
          .looseObject({ extensions: z.record(z.string(), z.unknown()).optional() })
          .optional(),
      })
      .optional(),
  }),
});

export function withId(value: unknown): { readonly id?: string | number } {
  const id = idOf(value);
  return id === undefined ? {} : { id };
}

export function errorFrame({ id, code, message, data }: Omit<Refused, 'ok'>): object {
  return { jsonrpc: '2.0', ...(id === undefined ? {} : { id }), error: { code, message, data } };
}

export function idOf(value: unknown): string | number | undefined {
  const { id } = fieldsOf(value);
  return typeof id === 'string' || Number.isSafeInteger(id) ? (id as string | number) : undefined;
}
