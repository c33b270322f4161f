import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import {
  auth,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { replaceFile } from '../../permissions/replace-file.ts';
import { orElse } from '../../records/coppice-error.ts';
import { errorChainText, McpError } from './mcp-error.ts';
import { boundedFetch } from './wire/bounded-fetch.ts';

/** Data kept for one server, accessible to the user only. */
interface Kept {
  readonly client?: StoredOAuthClientInformation;
  readonly tokens?: StoredOAuthTokens;
  readonly verifier?: string;
  readonly discovery?: OAuthDiscoveryState;
}

const NOWHERE = 'http://127.0.0.1/callback';
export const LOGIN_MS = 5 * 60_000;

/**
 * The OAuth login of one server: what a person has granted is kept in a file per server, and renewed as long as the server allows. It
 * never asks a person by itself: without a login, requests fail and say how to get one.
 */
export class Login implements OAuthClientProvider {
  readonly #file: string;
  readonly redirectUrl: string;
  readonly #open: ((url: URL) => void) | null;
  readonly #state = randomBytes(32).toString('base64url');
  /** What a person is being asked for, until the server has let them in: what is kept stays valid until then. */
  #draft: Kept | null;
  /** The refresh token of the newest attempt to renew the login; undefined if there was none, or if the server left the token valid. */
  #tried: string | undefined;

  /** `open` shows a person the login page; null if nobody can log in. */
  constructor(folder: string, url: string, redirect = NOWHERE, open: ((url: URL) => void) | null = null) {
    this.#file = join(folder, `${hash('sha256', url).slice(0, 32)}.json`);
    this.redirectUrl = redirect;
    this.#open = open;
    this.#draft = open === null ? null : {};
  }

  get clientMetadata(): OAuthClientMetadata {
    return {
      client_name: 'Coppice',
      redirect_uris: [this.redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    };
  }

  state(): string {
    return this.#state;
  }

  isState(given: string): boolean {
    const [one, other] = [Buffer.from(given), Buffer.from(this.#state)];
    return one.length === other.length && timingSafeEqual(one, other);
  }

  clientInformation(): StoredOAuthClientInformation | undefined {
    return this.#kept().client;
  }

  saveClientInformation(client: StoredOAuthClientInformation): void {
    this.#keep({ client });
  }

  tokens(): StoredOAuthTokens | undefined {
    return this.#kept().tokens;
  }

  saveTokens(tokens: StoredOAuthTokens): void {
    if (tokens.refresh_token === this.#tried) this.#tried = undefined;
    this.#keep({ tokens });
  }

  /** Whether the server has said where to log in, and no login is kept. */
  get isNeeded(): boolean {
    const { discovery, tokens } = this.#kept();
    return discovery !== undefined && tokens === undefined;
  }

  /** Called before the login is renewed. Asks for no scope: the one granted stays. */
  scopeForRefresh({ refresh_token }: StoredOAuthTokens): undefined {
    this.#tried = refresh_token;
  }

  codeVerifier(): string {
    return this.#kept().verifier ?? '';
  }

  saveCodeVerifier(verifier: string): void {
    if (this.#draft !== null) this.#keep({ verifier });
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#kept().discovery;
  }

  saveDiscoveryState(discovery: OAuthDiscoveryState): void {
    this.#keep({ discovery });
  }

  redirectToAuthorization(url: URL): void {
    if (this.#open !== null) return void this.#open(url);
    // The library comes here, too, after an attempt that says nothing about the login: the server was unreachable or had an error.
    const is_kept = this.#tried !== undefined && this.tokens()?.refresh_token === this.#tried;
    throw new McpError(is_kept ? 'did not renew your login: try again later' : 'needs you to log in');
  }

  invalidateCredentials(scope: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): void {
    if (scope === 'all') return this.forget();
    // What was refused may have been replaced meanwhile, by another request or process; the library tries again with that.
    const is_refused = scope === 'client' || scope === 'tokens';
    if (is_refused && this.#tried !== undefined && this.tokens()?.refresh_token !== this.#tried) return;
    const { [scope]: _, ...rest } = this.#kept();
    this.#write(rest);
  }

  forget(): void {
    if (this.#draft === null) rmSync(this.#file, { force: true });
    else this.#draft = {};
  }

  /** Keeps the login that a person has made, in place of an earlier one. */
  keepDraft(): void {
    const { verifier: _, ...kept } = this.#kept();
    this.#draft = null;
    this.#write(kept);
  }

  #kept(): Kept {
    if (this.#draft !== null) return this.#draft;
    return orElse(() => JSON.parse(readFileSync(this.#file, 'utf8')) as Kept, {});
  }

  #keep(more: Kept): void {
    this.#write({ ...this.#kept(), ...more });
  }

  #write(kept: Kept): void {
    if (this.#draft !== null) this.#draft = kept;
    else replaceFile(this.#file, `${JSON.stringify(kept)}\n`);
  }
}

/** Lets a person log in: `show` gets the address of the login page, which redirects back to this machine. Rejects with an McpError, also if the signal comes first. */
export async function logIn(
  folder: string,
  url: string,
  show: (page: URL) => void,
  until = AbortSignal.timeout(LOGIN_MS),
): Promise<void> {
  const { promise: back, resolve: cameBack } = Promise.withResolvers<URLSearchParams>();
  /** Resolves to what the person reads in the browser, once it is known how the login ended. */
  const { promise: ended, resolve: end } = Promise.withResolvers<string>();
  const pages: Promise<unknown>[] = [];
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
    const known = pathname === '/callback' && login.isState(searchParams.get('state') ?? '');
    if (known) {
      cameBack(searchParams);
      pages.push(once(response, 'close'));
    }
    const text = known ? await ended : 'Not found: this belongs to no login that is being made';
    response.writeHead(known ? 200 : 404, { 'content-type': 'text/plain; charset=utf-8' });
    response.end(`${text}\n`);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  // The redirect address has another port each time, so the client is registered anew.
  const login = new Login(folder, url, `http://127.0.0.1:${port}/callback`, show);
  const giveUp = () => {
    const late = (until.reason as Error).name === 'TimeoutError';
    cameBack(new URLSearchParams({ error: `the login was ${late ? 'not completed in time' : 'given up'}` }));
  };
  until.addEventListener('abort', giveUp);
  try {
    const fetchFn = boundedFetch;
    await auth(login, { serverUrl: url, fetchFn });
    const answer = await back;
    const [code, iss] = [answer.get('code'), answer.get('iss')];
    if (code === null) throw new Error(refusalOf(answer));
    await auth(login, { serverUrl: url, fetchFn, authorizationCode: code, ...(iss === null ? {} : { iss }) });
    login.keepDraft();
    end('Done: you can close this page.');
  } catch (error) {
    const text = `did not let you log in: ${errorChainText(error)}`;
    end(`The server ${text}`);
    throw new McpError(text);
  } finally {
    until.removeEventListener('abort', giveUp);
    await Promise.all(pages);
    server.closeAllConnections();
    server.close();
  }
}

/** What a server says that gave no code. */
function refusalOf(answer: URLSearchParams): string {
  const said = [answer.get('error'), answer.get('error_description')].filter((text) => text !== null);
  return said.join(': ') || 'the page gave no code';
}
