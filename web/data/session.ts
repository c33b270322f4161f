import { addressNow, placeOf } from './route.ts';
import { hearTime } from './server-clock.ts';
import { store, stored } from './storage.ts';

/**
 * The session of this browser: a cookie that scripts cannot read, and a key in the storage of this origin. The browser sends the cookie to every port of this
 * machine, and the key to none: each request carries it in a header.
 */

const STORED = 'coppice-key';

/** Where the browser offers no storage, the session lasts as long as the page. */
let key = stored(STORED);

/** Sends a request of this session to the server. */
export async function ask(path: string, { headers, ...init }: RequestInit = {}): Promise<Response> {
  // Read again, because another tab may have signed in since.
  const now = stored(STORED) ?? key;
  const response = await fetch(placeOf(path), {
    ...init,
    headers: { ...headers, ...(now !== null && { 'coppice-key': now }) },
  });
  hearTime(response);
  return response;
}

/** Signs in if a link to do so was opened. Resolves to why that failed; null if it did not, or if there was no link. */
export async function signInByLink(): Promise<string | null> {
  const { hash } = window.location;
  if (addressNow() !== '/login') return null;
  window.history.replaceState(null, '', placeOf('/'));
  return signIn(hash.slice(1));
}

/** Exchanges the code of a link for a session. Resolves to why that failed, or to null. */
export async function signIn(code: string): Promise<string | null> {
  // What no header can carry is no code.
  const headers = { 'coppice-code': encodeURIComponent(code) };
  const response = await ask('/login', { method: 'POST', headers }).catch(() => null);
  if (response === null) return 'the server does not answer';
  const answer: { key?: string; error?: { message: string } } = await response.json().catch(() => ({}));
  if (answer.key === undefined) return answer.error?.message ?? `the server answered ${response.status}`;
  key = answer.key;
  store(STORED, key);
  return null;
}
