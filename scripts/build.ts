import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { bundleLibrary, bundleProgram } from './build/bundle.ts';
import { declarations } from './build/declarations.ts';
import { licences } from './build/licences.ts';
import { sbom } from './build/sbom.ts';
import { buildWeb } from './build/web.ts';

/**
 * `npm run build`: makes the `dist/` of the package. Command line and library are bundled each for itself, with the packages that they use, whose licences are
 * in one file, and which a bill of materials lists. Declarations come from `tsc`; only those that the library reaches are included.
 */
const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');

rmSync(dist, { recursive: true, force: true });
const parts = {
  program: await bundleProgram(root, dist),
  library: await bundleLibrary(root, dist),
  dashboard: await buildWeb(root, dist),
};
licences(root, dist, Object.values(parts).flat());
sbom(root, dist, parts);
declarations(root, dist, ['coppice.d.ts', 'core.d.ts', 'testing.d.ts']);
