import { dateOf, duration } from '../data/amounts.ts';
import { serverNow } from '../data/server-clock.ts';

const JUST_NOW_MS = 10_000;

/** Date and time as people read them: `Nov 28, 16:20`, and how long ago; the full time is its tooltip. */
export function When({ at, since = false }: { readonly at: string | number; readonly since?: boolean }) {
  const date = new Date(at);
  return (
    <time class="when" dateTime={date.toISOString()} title={date.toLocaleString()}>
      {dateOf(date)}
      {since && <span class="dim"> · {agoOf(serverNow() - date.getTime())}</span>}
    </time>
  );
}

function agoOf(ms: number): string {
  return ms < JUST_NOW_MS ? 'just now' : `${duration(ms)} ago`;
}
