import { createInterface } from 'node:readline/promises';
import { text } from 'node:stream/consumers';
import { CoppiceError } from '../../records/coppice-error.ts';

/** Asks on the terminal; anything but yes is no, including the end of the input. */
export async function confirm(question: string): Promise<boolean> {
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    // Settles when the input ends, which the question alone would not.
    const ended = new Promise<string>((resolve) => prompt.once('close', () => resolve('')));
    const answer = await Promise.race([prompt.question(question).catch(() => ''), ended]);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    prompt.close();
  }
}

/** Returns a text given as an argument or by an option, or `-` for standard input. Throws `E_USAGE` when it is empty. */
export async function readText(given: string | undefined, what: string, option?: string): Promise<string> {
  const from_input = given === '-' || (given === undefined && !process.stdin.isTTY);
  const value = from_input ? (await text(process.stdin)).replace(/\n$/, '') : given;
  if (value === undefined || value.trim() === '') {
    throw new CoppiceError('E_USAGE', `the ${what} is empty`, {
      hint: `Give it ${option === undefined ? 'as an argument' : `with ${option}`}, or - to read it from standard input`,
    });
  }
  return value;
}
