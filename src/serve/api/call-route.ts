import type { z } from 'zod';
import { CoppiceError } from '../../records/coppice-error.ts';
import { readSettings } from '../../settings/check-settings.ts';
import type { ApiRequest, ApiSources, Route } from './route.ts';

const PARAMETER_MAX = 200;

/** Returns the document that a route answers with. Rejects with `E_INVALID_ARGUMENT` if the request does not match the route's schemas. */
export async function callRoute(
  route: Route,
  sources: ApiSources,
  { path, query, body, ...rest }: ApiRequest<unknown, unknown>,
): Promise<object> {
  // Everything begins with an empty text, as a variable of a script that is not set gives it.
  for (const [name, value] of Object.entries(path))
    if (value === '' || value.length > PARAMETER_MAX || value.includes('\0'))
      throw invalid(name, 'is not an id or a name');
  const request = {
    path,
    query: checked(route.query, query, 'query'),
    body: route.body === null ? {} : checked(route.body, body, 'body'),
    ...rest,
  };
  return { schema: route.answer, ...(await route.handle(sources, request as never)) };
}

export function checked(schema: z.ZodType, value: unknown, where: 'body' | 'query'): unknown {
  const read = readSettings(schema, value, `in the ${where}`, `the ${where}`);
  if ('data' in read) return read.data;
  throw refusal(read.message, read.hint);
}

export function invalid(what: string, why: string): CoppiceError {
  return refusal(`${what}: ${why}`);
}

function refusal(message: string, hint?: string): CoppiceError {
  const page = 'See /v1/openapi.json';
  return new CoppiceError('E_INVALID_ARGUMENT', message, {
    hint: hint === undefined ? page : `${hint.replace(/(?<!\?)$/, '.')} ${page}`,
  });
}
