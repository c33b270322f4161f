import { CoppiceError } from '../../records/coppice-error.ts';
import { signingKey } from './signing-key.ts';

/** Where one webhook goes, and with what it is signed. */
export interface Endpoint {
  readonly name: string;
  readonly url: URL;
  readonly key: Buffer;
  /** What may stand in no error: the secret, and what of the address may be one. The longest first. */
  readonly hidden: readonly string[];
}

/** A value of the query that is shorter tells nothing, and would hide half of any sentence. */
const SECRET_MIN = 4;

/** Reads one entry of the configuration. Throws `E_CONFIG`, without the address or the secret in it. */
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
      'It is whsec_ with base64 behind it, or any other text that is not empty.',
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
    secret.replace(/^whsec_/, ''),
  ].filter((text) => text.length >= SECRET_MIN);
  // Whole ones are hidden however short they are.
  const whole = [secret, search, search.slice(1), decoded(search)].filter((text) => text.length > 1);
  return [...new Set([...values, ...whole])].sort((a, b) => b.length - a.length);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
