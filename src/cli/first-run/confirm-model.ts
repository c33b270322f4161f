import type { Dialogue } from './dialogue.ts';
import { type Found, type Known, tryModel } from './try-model.ts';

export type Proof =
  /** `keep`: the model answered, or the person keeps it all the same. */
  'keep' | 'key_refused' | 'back';

/** Tries a model with a request, as often as the person wants, and explains failures in words. */
export async function confirmModel(dialogue: Dialogue, found: Found, known: Known): Promise<Proof> {
  while (!dialogue.ended) {
    const title = `Asking ${found.model} for one word, to see that it works …`;
    const failure = await dialogue.wait(title, async (signal) => ({
      failed: await tryModel(found, known, signal),
    }));
    if (failure === null) return 'back';
    const { failed } = failure;
    if (failed === null) return 'keep';
    dialogue.print(`✗ ${failed.error}`);
    if (failed.kind === 'auth') return 'key_refused';
    const kept = failed.kind === 'no_credit' ? 'Keep it: I will pay in' : 'Keep it all the same';
    const next = await dialogue.choose('What now?', [
      { text: 'Try again' },
      { text: 'Go back' },
      { text: kept },
    ]);
    if (next === 2) return 'keep';
    if (next !== 0) return 'back';
  }
  return 'back';
}
