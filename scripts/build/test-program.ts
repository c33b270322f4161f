import { copyFileSync, cpSync, globSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bundleProgram } from './bundle.ts';

/**
 * Bundles the program for the tests that start it, below the clone's `node_modules`: in a place that stays the same, Node finds its compiled code. Returns
 * the file to start. Names of chunks have hashes of their contents, and each file is moved into place atomically, so that it can be started meanwhile.
 */
export async function buildTestProgram(root: string): Promise<string> {
  const cache = join(root, 'node_modules', '.cache');
  const home = join(cache, 'coppice-program');
  mkdirSync(home, { recursive: true });
  const draft = mkdtempSync(join(cache, 'draft-'));
  await bundleProgram(root, join(draft, 'dist'));
  copyFileSync(join(root, 'package.json'), join(draft, 'package.json'));
  cpSync(join(root, 'dist', 'web'), join(draft, 'dist', 'web'), { recursive: true });
  const files = globSync('**/*.*', { cwd: draft });
  for (const file of files) {
    mkdirSync(dirname(join(home, file)), { recursive: true });
    renameSync(join(draft, file), join(home, file));
  }
  rmSync(draft, { recursive: true });
  const kept = new Set(files);
  for (const file of globSync('dist/chunks/*', { cwd: home }))
    if (!kept.has(file)) rmSync(join(home, file), { force: true });
  return join(home, 'dist', 'cli', 'entry', 'main.cjs');
}
