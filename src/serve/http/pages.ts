import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

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
  const files = ['index.html', 'dashboard.js', 'style.css'];
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

/** Folder of `package.json`, above both the sources and the built files. */
function packageRoot(folder: string): string {
  if (existsSync(join(folder, 'package.json')) && existsSync(join(folder, 'docs'))) return folder;
  const above = dirname(folder);
  return above === folder ? folder : packageRoot(above);
}
