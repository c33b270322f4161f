/** Shorter ones are no secrets that anybody could keep (an empty key, `x` for a local server), and would hide letters of every word. */
const SHORTEST = 8;

/** The text without any of these secrets, also as JSON writes them. Before a text is cut: the beginning of a key is told by no one either. */
export function hideSecrets(text: string, secrets: readonly string[], mark: string): string {
  let safe = text;
  for (const secret of secrets) {
    if (secret.length < SHORTEST) continue;
    for (const form of [secret, JSON.stringify(secret).slice(1, -1)]) safe = safe.replaceAll(form, mark);
  }
  return safe;
}
