/** Minimum length. Shorter secrets are placeholders (an empty key, `x` for a local server), and masking them would garble ordinary text. */
const SHORTEST = 8;

/** Masks these secrets, also in JSON-escaped form. Call it before truncating, so that no part of a secret remains. */
export function hideSecrets(text: string, secrets: readonly string[], mark: string): string {
  let safe = text;
  for (const secret of secrets) {
    if (secret.length < SHORTEST) continue;
    for (const form of [secret, JSON.stringify(secret).slice(1, -1)]) safe = safe.replaceAll(form, mark);
  }
  return safe;
}
