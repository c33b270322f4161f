/** Seeds that once found a fault, each with what it found. They stay in the suite for good. */
export const KEPT_SEEDS: readonly { readonly seed: number; readonly found: string }[] = [
  { seed: 75, found: 'an agent whose conversation another process had deleted was led on here for ever' },
  { seed: 87, found: 'a run that ended elsewhere, and was deleted, kept its place in the queue' },
  {
    seed: 1316,
    found: 'a letter to a child was never read when it came before its creation was acknowledged',
  },
];
