import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Scope } from '../api/route.ts';

/**
 * Access control: two tokens in files that only their owner can read, browser sessions, and one-time links that begin them (docs/http-api.md).
 * A session is a cookie, which scripts cannot read, and a key, which browsers send to no other port; each is worthless without the other, and at another host.
 * Replacing a token in its file invalidates the old token, and the sessions that began with it, from the next request on.
 */

const FILES: Readonly<Record<Scope, string>> = { write: 'token', read: 'token-read' };
const SCOPES = ['write', 'read'] as const;
const CODE_MS = 60_000;
const CODES_MAX = 100;
const SESSION_MS = 7 * 24 * 3_600_000;
const OWNER_ONLY = 0o600;

interface Token {
  readonly text: string;
  readonly mark: string;
}

/** The two secrets of a signed-in browser. */
export type Session = Readonly<Record<'cookie' | 'key', string>>;

/** Path of a token file in a machine's folder of servers. */
export function tokenFile(folder: string, scope: Scope): string {
  return join(folder, FILES[scope]);
}

export class Access {
  readonly #folder: string;
  readonly #now: () => number;
  readonly #tokens = new Map<Scope, Token>();
  readonly #codes = new Map<string, { readonly scope: Scope; readonly until: number }>();

  /** Creates the tokens that are missing. */
  constructor(folder: string, now: () => number = Date.now) {
    this.#folder = folder;
    this.#now = now;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    for (const scope of SCOPES) if (this.#read(scope) === null) this.rotate(scope);
  }

  fileOf(scope: Scope): string {
    return tokenFile(this.#folder, scope);
  }

  /** Replaces the token with a new one of 256 bits; the old one becomes invalid. */
  rotate(scope: Scope): string {
    const text = randomBytes(32).toString('base64url');
    const file = this.fileOf(scope);
    writeFileSync(file, `${text}\n`, { mode: OWNER_ONLY });
    chmodSync(file, OWNER_ONLY);
    return text;
  }

  scopeOf(token: string): Scope | null {
    return SCOPES.find((scope) => same(this.#read(scope) ?? '', token)) ?? null;
  }

  /** One-time code that begins a session within a minute. */
  newCode(scope: Scope): { readonly code: string; readonly until: number } {
    const now = this.#now();
    for (const [code, { until }] of this.#codes)
      if (until <= now || this.#codes.size >= CODES_MAX) this.#codes.delete(code);
    const code = randomBytes(24).toString('base64url');
    const until = now + CODE_MS;
    this.#codes.set(code, { scope, until });
    return { code, until };
  }

  /** Exchanges a code for a new session at `host`, once; null if the code is wrong, used or expired. */
  redeem(code: string, host: string): (Session & { readonly seconds: number }) | null {
    const found = this.#codes.get(code);
    this.#codes.delete(code);
    if (found === undefined || found.until <= this.#now()) return null;
    const until = this.#now() + SESSION_MS;
    return { ...this.#session(found.scope, until, host), seconds: SESSION_MS / 1_000 };
  }

  scopeOfSession({ cookie, key }: Session, host: string): Scope | null {
    const [name, until = ''] = cookie.split('.');
    const scope = SCOPES.find((one) => one === name);
    if (scope === undefined || !(Number(until) > this.#now())) return null;
    const made = this.#session(scope, Number(until), host);
    return same(made.cookie, cookie) && same(made.key, key) ? scope : null;
  }

  #session(scope: Scope, until: number, host: string): Session {
    const token = this.#read(scope) ?? randomBytes(32);
    const sign = (part: keyof Session) =>
      createHmac('sha256', token).update(`${part} ${scope} ${until} ${host}`).digest('base64url');
    return { cookie: `${scope}.${until}.${sign('cookie')}`, key: sign('key') };
  }

  /** Returns the token, read again if its file has changed; null if there is none. */
  #read(scope: Scope): string | null {
    const file = this.fileOf(scope);
    const about = statSync(file, { throwIfNoEntry: false, bigint: true });
    if (about === undefined) return null;
    const mark = `${about.ino} ${about.mtimeNs} ${about.size}`;
    const known = this.#tokens.get(scope);
    if (known?.mark === mark) return known.text;
    const text = readFileSync(file, 'utf8').trim();
    if (text === '') return null;
    this.#tokens.set(scope, { text, mark });
    return text;
  }
}

/** Compares in constant time. An empty `one` equals nothing. */
function same(one: string, other: string): boolean {
  const digest = (text: string) => hash('sha256', text, 'buffer');
  return one !== '' && timingSafeEqual(digest(one), digest(other));
}
