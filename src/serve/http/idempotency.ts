import { createHash, randomUUID } from 'node:crypto';
import { invalid } from '../api/call-route.ts';
import type { Route } from '../api/route.ts';

const KEY_MAX = 200;

/** Derives a uuid from route and `Idempotency-Key`, so that a retry creates nothing twice, whichever server answers; without a key, a new uuid. */
export function idempotentId(
  route: Pick<Route, 'method' | 'path' | 'creates'>,
  key: string | undefined,
): string {
  if (key === undefined || route.creates !== true) return randomUUID();
  if (key === '' || key.length > KEY_MAX) throw invalid('Idempotency-Key', `1 to ${KEY_MAX} characters`);
  const hex = createHash('sha256').update(`${route.method} ${route.path}\n${key}`).digest('hex');
  const variant = ((Number.parseInt(hex.slice(16, 18), 16) & 0x3f) | 0x80).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(18, 20)}-${hex.slice(20, 32)}`;
}
