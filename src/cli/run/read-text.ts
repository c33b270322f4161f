import { text } from 'node:stream/consumers';
import { CoppiceError } from '../../records/coppice-error.ts';

/** A text given as an argument or by an option, or `-` for standard input. Throws `E_USAGE` when there is none. */
export async function readText(given: string | undefined, what: string, option?: string): Promise<string> {
  const fromInput = given === '-' || (given === undefined && !process.stdin.isTTY);
  const value = fromInput ? (await text(process.stdin)).replace(/\n$/, '') : given;
  if (value === undefined || value.trim() === '') {
    throw new CoppiceError('E_USAGE', `the ${what} is empty`, {
      hint: `Give it ${option === undefined ? 'as an argument' : `with ${option}`}, or - to read it from standard input`,
    });
  }
  return value;
}
