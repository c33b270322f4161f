import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { bundleLibrary, bundleProgram } from './build/bundle.ts';
import { declarations } from './build/declarations.ts';
import { licences } from './build/licences.ts';
import { buildWeb } from './build/web.ts';

/**
 * `npm run build`: makes the `dist/` of the package. Command line and library are bundled each for itself, with the packages that they use, whose licences are
 * in a file. Declarations come from `tsc`; only those that the library reaches are included.
 */
const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');

rmSync(dist, { recursive: true, force: true });
const inputs = [await bundleProgram(root, dist), await bundleLibrary(root, dist), await buildWeb(root, dist)];
licences(root, dist, inputs.flat());
declarations(root, dist, 'coppice.d.ts');
