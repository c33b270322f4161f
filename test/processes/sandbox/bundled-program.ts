import { constants, copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, stop } from 'esbuild';

const REQUIRE =
  "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";

/**
 * Bundles a test program into one file, next to a copy of Node that runs it, both in `folder`: sandboxes do not show /tmp, and other users may be unable
 * to enter this project's folder. Returns the paths of Node and the program.
 */
export async function bundledProgram(entry: string, folder: string): Promise<readonly [string, string]> {
  const [node, outfile] = [join(folder, 'node'), join(folder, 'program.mjs')];
  copyFileSync(process.execPath, node, constants.COPYFILE_FICLONE);
  await build({
    entryPoints: [entry],
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile,
    banner: { js: REQUIRE },
    logLevel: 'error',
  });
  await stop();
  return [node, outfile];
}
