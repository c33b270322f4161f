import { ROUTES } from '../../src/serve/api/all-routes.ts';
import type { Terms } from '../../src/serve/api/route.ts';
import { EXPORT_ROUTE } from '../../src/serve/pages/export-route.ts';
import { EVENT_ROUTE } from '../../src/serve/stream/event-route.ts';
import { table } from './commands-tables.ts';

/** The routes of the HTTP API, as Markdown. */
export function httpRoutes(): string {
  return table(
    ['route', 'what it does', 'token', 'answers with'],
    [...ROUTES, EVENT_ROUTE, EXPORT_ROUTE].map(({ method, path, summary, scope, creates, answer }: Terms) => [
      `\`${method} ${path}\``,
      `${summary}${creates === true ? '; takes an `Idempotency-Key`' : ''}`,
      scope === 'read' ? 'any' : 'that may write',
      `[${answer}](json.md#${answer.replaceAll('/', '')})`,
    ]),
  );
}

/** The routes that answer with a document: `` `GET /v1/agents` ``. */
export function routesOf(document: string): string[] {
  return [...ROUTES, EVENT_ROUTE, EXPORT_ROUTE]
    .filter(({ answer }) => answer === document)
    .map(({ method, path }) => `\`${method} ${path}\``);
}
