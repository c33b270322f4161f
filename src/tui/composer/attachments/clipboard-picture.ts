import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const PNG = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
const TIMEOUT_MS = 5_000;
const MAX_BYTES = 32 * 2 ** 20;

/** Programs that print the picture in the clipboard of the desktop as PNG, in their order. */
const PROGRAMS: readonly (readonly [string, ...string[]])[] = [
  ['wl-paste', '--type', 'image/png'],
  ['xclip', '-selection', 'clipboard', '-target', 'image/png', '-out'],
  ['osascript', '-e', 'the clipboard as «class PNGf»'],
];

/** Writes the picture in the clipboard to a file of its own in this folder and resolves to its path; null: there is none, or nothing reads it. */
export async function clipboardPicture(folder: string): Promise<string | null> {
  for (const [program, ...args] of PROGRAMS) {
    const printed = await output(program, args);
    const hex = /^«data PNGf([0-9A-F]+)»/.exec(printed.toString('utf8'))?.[1];
    const picture = hex === undefined ? printed : Buffer.from(hex, 'hex');
    if (!picture.subarray(0, PNG.length).equals(PNG)) continue;
    await mkdir(folder, { recursive: true });
    const file = join(await mkdtemp(join(folder, 'picture-')), 'clipboard.png');
    await writeFile(file, picture, { mode: 0o600 });
    return file;
  }
  return null;
}

/** What a program prints; nothing if it is not there or fails. */
function output(program: string, args: readonly string[]): Promise<Buffer> {
  const { promise, resolve } = Promise.withResolvers<Buffer>();
  const options = { encoding: 'buffer', timeout: TIMEOUT_MS, maxBuffer: MAX_BYTES } as const;
  execFile(program, args, options, (error, stdout) => resolve(error === null ? stdout : Buffer.alloc(0)));
  return promise;
}
