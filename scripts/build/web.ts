import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import { heldFiles } from './held-files.ts';

/** Bundles the dashboard into `dist/web`; returns every source file of which something went in, relative to `root`. */
export async function buildWeb(root: string, dist: string): Promise<readonly string[]> {
  const out = join(dist, 'web');
  mkdirSync(out, { recursive: true });
  const options = {
    absWorkingDir: root,
    bundle: true,
    platform: 'browser',
    target: 'es2022',
    format: 'esm',
    minify: true,
    metafile: true,
    write: false,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    outdir: out,
    legalComments: 'none',
  } as const;
  const built = await Promise.all([
    // What a server sends: the first script, the pages that are seldom the first, and what both need.
    build({
      ...options,
      entryPoints: { dashboard: 'web/dashboard.tsx' },
      splitting: true,
      chunkNames: '[name]',
    }),
    // What an exported tree holds: the same as one script.
    build({
      ...options,
      entryPoints: { whole: 'web/dashboard.tsx', text: 'web/text.ts', style: 'web/dashboard.css' },
    }),
  ]);
  const files = built.flatMap(({ outputFiles }) =>
    outputFiles.map(({ path, contents }) => [basename(path), contents] as const),
  );
  for (const [name, contents] of [
    ...files,
    ['index.html', readFileSync(join(root, 'web', 'index.html'))] as const,
  ]) {
    // Moved into place atomically, so that a server that starts meanwhile reads whole files.
    const draft = join(out, `.${name}-${process.pid}`);
    writeFileSync(draft, contents);
    renameSync(draft, join(out, name));
  }
  return [...new Set(built.flatMap(({ metafile }) => heldFiles(metafile)))];
}
