const PREFIX = 'whsec_';

/**
 * The bytes that a secret stands for: base64 behind `whsec_` (Standard Webhooks), any other text as its own bytes. Null when
 * it stands for none.
 */
export function signingKey(secret: string): Buffer | null {
  if (!secret.startsWith(PREFIX)) return secret === '' ? null : Buffer.from(secret, 'utf8');
  const text = secret.slice(PREFIX.length);
  const key = Buffer.from(text, 'base64');
  const bare = (base64: string) => base64.replace(/=+$/, '');
  return key.length > 0 && bare(key.toString('base64')) === bare(text) ? key : null;
}
