import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * The command line as tests start it: bundled as in the package (scripts/test.ts builds it once per run, for `npm test`), because starting from the
 * sources takes twice as long; from the sources if a test file is run by itself.
 */
const built = process.env.COPPICE_TEST_PROGRAM;

export const MAIN = built ?? join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts');
/** The module whose `start` the program calls. */
export const START = pathToFileURL(
  built === undefined
    ? join(dirname(MAIN), 'start', 'start.ts')
    : join(dirname(built), '..', 'start', 'start.js'),
).href;
