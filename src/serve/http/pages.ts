import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../processes/working-folder.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

export interface PageFile {
  readonly type: string;
  readonly body: string;
}

/** Reads the built dashboard: `index.html` and the files of `assets/`. Null if it was not built. */
export function readPages(): ReadonlyMap<string, PageFile> | null {
  const folder = join(packageRoot(import.meta.dirname), 'dist', 'web');
  const files = ['index.html', 'dashboard.js', 'text.js', 'style.css'];
  if (!files.every((name) => existsSync(join(folder, name)))) return null;
  return new Map(
    files.map((name) => [
      name,
      {
        type: TYPES[name.slice(name.lastIndexOf('.'))] ?? 'application/octet-stream',
        body: readFileSync(join(folder, name), 'utf8'),
      },
    ]),
  );
}
