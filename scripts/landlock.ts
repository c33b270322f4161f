import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** `npm run landlock`: assembles the programs that close the sandbox, and writes their bytes into the source that holds them. Needs binutils for both processors. */
export const BINUTILS = { x64: 'x86_64-linux-gnu-', arm64: 'aarch64-linux-gnu-' } as const;
const SOURCE = join(import.meta.dirname, '../src/processes/sandbox/landlock-program.ts');

/** Returns the program for the processor. Throws if there is no assembler for it. */
export function assembled(processor: keyof typeof BINUTILS): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'coppice-landlock-'));
  try {
    const [object, program] = [join(folder, 'object'), join(folder, 'program')];
    const tool = (name: string, ...args: string[]) => execFileSync(`${BINUTILS[processor]}${name}`, args);
    tool('as', join(import.meta.dirname, `landlock/${processor}.S`), '-o', object);
    tool('objcopy', '-O', 'binary', '-j', '.text', object, program);
    return readFileSync(program);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

if (import.meta.main) {
  let source = readFileSync(SOURCE, 'utf8');
  for (const processor of ['x64', 'arm64'] as const) {
    const text = assembled(processor).toString('base64');
    source = source.replace(new RegExp(`(\n  ${processor}:\\s+')[^']*'`), (_, begin) => `${begin}${text}'`);
  }
  writeFileSync(SOURCE, source);
}
