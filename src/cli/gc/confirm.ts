import { createInterface } from 'node:readline/promises';

/** Asks on the terminal. Anything but yes is no, an input that ends included. */
export async function confirm(question: string): Promise<boolean> {
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    // A question whose input ends would stay open for ever.
    const ended = new Promise<string>((resolve) => prompt.once('close', () => resolve('')));
    const answer = await Promise.race([prompt.question(question).catch(() => ''), ended]);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    prompt.close();
  }
}
