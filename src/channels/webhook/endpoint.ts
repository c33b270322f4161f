import { CoppiceError } from '../../records/coppice-error.ts';
import { decoded } from '../../records/text/text.ts';

/** The URL that a webhook is posted to, and the key that signs it. */
export interface Endpoint {
  readonly name: string;
  readonly url: URL;
  readonly key: Buffer;
  /** Texts that are masked in errors: the secret, and parts of the URL that may be secret. The longest first. */
  readonly hidden: readonly string[];
}

const SECRET_PREFIX = 'whsec_';
/** Minimum length of a part of a URL that is masked; shorter ones would mask ordinary words. */
const SECRET_MIN = 4;

/** Checks a configured webhook. Throws `E_CONFIG`, without the URL or the secret in the message. */
export function endpointOf(name: string, { url, secret }: { url: string; secret: string }): Endpoint {
  const wrong = (what: string, hint: string) =>
    new CoppiceError('E_CONFIG', `the webhook "${name}" ${what}`, { hint });
  const parsed = URL.parse(url);
  if (parsed === null) throw wrong('has no valid url', 'It begins with https:// or http://');
  if (parsed.protocol !== 'https:' && parsed.protocol !== 'http:')
    throw wrong(`has a url of ${parsed.protocol}`, 'Only https: and http: can be posted to.');
  if (parsed.username !== '' || parsed.password !== '')
    throw wrong('has a user or a password in its url', 'Leave them out: the signature says who sends.');
  const key = signingKey(secret);
  if (key === null)
    throw wrong(
      'has no usable secret',
      'It is whsec_ followed by base64, or any other text that is not empty.',
    );
  return { name, url: parsed, key, hidden: hiddenOf(parsed, secret) };
}

function hiddenOf(url: URL, secret: string): string[] {
  const { pathname, search, searchParams } = url;
  const raw = search.slice(1).split('&');
  const values = [
    ...raw.map((pair) => pair.slice(pair.indexOf('=') + 1)),
    ...[...searchParams].map(([, value]) => value),
    pathname === '/' ? '' : pathname,
    decoded(pathname),
    secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : '',
  ].filter((text) => text.length >= SECRET_MIN);
  // The whole secret and query are masked however short they are.
  const whole = [secret, search, search.slice(1), decoded(search)].filter((text) => text.length > 1);
  return [...new Set([...values, ...whole])].sort((a, b) => b.length - a.length);
}

/** Decodes a secret: base64 after `whsec_` (Standard Webhooks), any other text as UTF-8. Null for an empty or malformed one. */
function signingKey(secret: string): Buffer | null {
  if (!secret.startsWith(SECRET_PREFIX)) return secret === '' ? null : Buffer.from(secret, 'utf8');
  const text = secret.slice(SECRET_PREFIX.length);
  const key = Buffer.from(text, 'base64');
  const bare = (base64: string) => base64.replace(/=+$/, '');
  return key.length > 0 && bare(key.toString('base64')) === bare(text) ? key : null;
}
