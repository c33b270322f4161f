/** Seeds that once found a fault, each with what it found. They stay in the suite for good. */
export const KEPT_SEEDS: readonly { readonly seed: number; readonly found: string }[] = [];
