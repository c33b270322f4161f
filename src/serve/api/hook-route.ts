import { z } from 'zod';
import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import type { Terms } from './route.ts';

/** Deliveries of other programs: the one route that needs a signature, not a token. */
export const HOOK_ROUTE = {
  method: 'POST',
  path: '/v1/hooks/:name',
  summary: 'Takes a delivery to a webhook of the configuration, which starts a tree or is a message to one',
  scope: 'write',
  answer: 'coppice/hook/v1',
  query: z.strictObject({}),
  body: z.looseObject({}).describe('what the sender sends, signed as it signs'),
  signed: true,
} as const satisfies Terms & { readonly query: z.ZodObject; readonly body: z.ZodObject };

export interface HookRequest {
  readonly header: (name: string) => string | undefined;
  /** Names of all its headers, in lower case. */
  readonly names: readonly string[];
  readonly body: Buffer;
}

/** `coppice/hook/v1`, without its `schema`. */
export type HookAnswer = Omit<DocumentOf<'coppice/hook/v1'>, 'schema'>;

export interface HookReceiver {
  /** Rejects with `E_HOOK_NOT_FOUND`, `E_UNAUTHORIZED`, `E_INVALID_ARGUMENT` or `E_TOO_MANY_REQUESTS`, having done nothing. */
  receive(name: string, request: HookRequest): Promise<HookAnswer>;
}
