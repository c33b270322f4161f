import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** The OAuth part of a test server: issues tokens, accepts those in `valid`, and records registrations and grants. */
export class OAuthServer {
  readonly #codes = new Map<string, { readonly challenge: string; readonly redirect: string }>();
  readonly #refreshes = new Set<string>();
  readonly valid = new Set<string>();
  readonly grants: string[] = [];
  /** Whether a refresh token is valid once only. */
  rotates = false;
  /** Awaited before each token is issued or refused; resolves to false if the server has an error instead. */
  beforeToken: () => Promise<boolean> = async () => true;
  registrations = 0;

  /** Returns true if it answered the request: one about a login, or one without a valid token. */
  async answer(request: IncomingMessage, response: ServerResponse, body: string): Promise<boolean> {
    const base = `http://${request.headers.host}`;
    const url = new URL(request.url ?? '/', base);
    const json = (value: object, status = 200) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
      return true;
    };
    if (url.pathname.startsWith('/.well-known/oauth-protected-resource'))
      return json({ resource: `${base}/mcp`, authorization_servers: [base] });
    if (url.pathname === '/.well-known/oauth-authorization-server')
      return json({
        issuer: base,
        authorization_endpoint: `${base}/authorize`,
        token_endpoint: `${base}/token`,
        registration_endpoint: `${base}/register`,
        response_types_supported: ['code'],
        grant_types_supported: ['authorization_code', 'refresh_token'],
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['none'],
        authorization_response_iss_parameter_supported: true,
      });
    if (url.pathname === '/register') {
      this.registrations += 1;
      return json({ ...JSON.parse(body), client_id: `client-${this.registrations}` }, 201);
    }
    if (url.pathname === '/authorize') {
      const { redirect_uri = '', state = '', code_challenge = '' } = Object.fromEntries(url.searchParams);
      const code = randomUUID();
      this.#codes.set(code, { challenge: code_challenge, redirect: redirect_uri });
      const back = new URL(redirect_uri);
      for (const [name, value] of Object.entries({ code, state, iss: base }))
        back.searchParams.set(name, value);
      response.writeHead(302, { location: back.href }).end();
      return true;
    }
    if (url.pathname === '/token') {
      if (!(await this.beforeToken())) return json({}, 503);
      return this.#token(new URLSearchParams(body), json);
    }
    const token = request.headers.authorization?.replace('Bearer ', '') ?? '';
    if (this.valid.has(token)) return false;
    const metadata = `${base}/.well-known/oauth-protected-resource`;
    response.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${metadata}"` }).end();
    return true;
  }

  #token(form: URLSearchParams, json: (value: object, status?: number) => boolean): boolean {
    const grant = form.get('grant_type') ?? '';
    this.grants.push(grant);
    const code = this.#codes.get(form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const right =
      grant === 'refresh_token'
        ? this.#refreshes.has(form.get('refresh_token') ?? '')
        : code?.challenge === challenge && code.redirect === form.get('redirect_uri');
    if (!right) return json({ error: 'invalid_grant' }, 400);
    if (this.rotates) this.#refreshes.delete(form.get('refresh_token') ?? '');
    const [access_token, refresh_token] = [randomUUID(), randomUUID()];
    this.valid.add(access_token);
    this.#refreshes.add(refresh_token);
    return json({ access_token, refresh_token, token_type: 'Bearer', expires_in: 3600 });
  }
}
