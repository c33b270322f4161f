import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { bundle } from './build/bundle.ts';
import { declarations } from './build/declarations.ts';
import { licences } from './build/licences.ts';
import { buildWeb } from './build/web.ts';

/**
 * `npm run build`: `dist/` as the package has it. The command line and the library in one set of chunks, so that a start reads few files; the packages
 * that they use are part of it, with their licences in a file; types are those of `tsc`, as far as the library's reach.
 */
const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');

rmSync(dist, { recursive: true, force: true });
licences(root, dist, [...(await bundle(root, dist)), ...(await buildWeb(root, dist))]);
declarations(root, dist, 'coppice.d.ts');
