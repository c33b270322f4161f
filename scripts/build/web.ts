import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

/** Bundles the dashboard into `dist/web`; returns every source file that went in, relative to `root`. */
export async function buildWeb(root: string, dist: string): Promise<readonly string[]> {
  const out = join(dist, 'web');
  mkdirSync(out, { recursive: true });
  const { metafile } = await build({
    absWorkingDir: root,
    bundle: true,
    platform: 'browser',
    target: 'es2022',
    format: 'esm',
    minify: true,
    metafile: true,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    entryPoints: { dashboard: 'web/dashboard.tsx', style: 'web/dashboard.css' },
    outdir: out,
    legalComments: 'none',
  });
  copyFileSync(join(root, 'web', 'index.html'), join(out, 'index.html'));
  return Object.keys(metafile.inputs);
}
