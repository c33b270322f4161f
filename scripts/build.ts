import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { bundle } from './build/bundle.ts';
import { declarations } from './build/declarations.ts';
import { licences } from './build/licences.ts';
import { buildWeb } from './build/web.ts';

/**
 * `npm run build`: makes the `dist/` of the package. Command line and library share one set of chunks, so that a start reads few files. The packages that
 * they use are bundled, with their licences in a file. Declarations come from `tsc`; only those that the library reaches are included.
 */
const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');

rmSync(dist, { recursive: true, force: true });
licences(root, dist, [...(await bundle(root, dist)), ...(await buildWeb(root, dist))]);
declarations(root, dist, 'coppice.d.ts');
