import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';

/** Writes the types of `entries` into `dist`: their own declarations and those they reach. */
export function declarations(root: string, dist: string, entries: readonly string[]): void {
  const folder = mkdtempSync(join(tmpdir(), 'coppice-types-'));
  try {
    execFileSync(
      process.execPath,
      [
        join(root, 'node_modules', 'typescript', 'bin', 'tsc'),
        '-p',
        'tsconfig.build.json',
        '--outDir',
        folder,
      ],
      { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] },
    );
    for (const file of reached(entries.map((entry) => join(folder, entry))))
      cpSync(file, join(dist, relative(folder, file)));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Declaration files that `entries` import, directly or indirectly, including themselves. */
function reached(entries: readonly string[]): ReadonlySet<string> {
  const files = new Set(entries);
  for (const file of files)
    for (const [, specifier = ''] of readFileSync(file, 'utf8').matchAll(
      /(?:from |import\()['"](\.[^'"]+)['"]/g,
    )) {
      const target = join(dirname(file), specifier.replace(/\.[jt]s$/, '.d.ts'));
      if (!existsSync(target)) throw new Error(`${file} imports ${specifier}, of which there are no types`);
      files.add(target);
    }
  return files;
}
