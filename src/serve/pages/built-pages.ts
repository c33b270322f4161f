import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../processes/working-folder.ts';

const FILES: Readonly<Record<string, string>> = {
  'index.html': 'text/html; charset=utf-8',
  'dashboard.js': 'text/javascript; charset=utf-8',
  'chunk.js': 'text/javascript; charset=utf-8',
  'seldom.js': 'text/javascript; charset=utf-8',
  'whole.js': 'text/javascript; charset=utf-8',
  'text.js': 'text/javascript; charset=utf-8',
  'style.css': 'text/css; charset=utf-8',
};

export interface PageFile {
  readonly type: string;
  readonly body: string;
}

/** Reads the built dashboard: Null if it was not built. */
export function readPages(): ReadonlyMap<string, PageFile> | null {
  const folder = join(packageRoot(import.meta.dirname), 'dist', 'web');
  const path = (name: string) => join(folder, name);
  const files = Object.entries(FILES);
  if (!files.every(([name]) => existsSync(path(name)))) return null;
  return new Map(files.map(([name, type]) => [name, { type, body: readFileSync(path(name), 'utf8') }]));
}
