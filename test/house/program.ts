import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * The command line as tests start it: in one piece, as the package has it (scripts/test.ts puts it together once per run, for `npm test`), because a start from the
 * sources costs twice as much; from the sources where a test file is run by itself.
 */
const built = process.env.COPPICE_TEST_PROGRAM;

export const MAIN = built ?? join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts');
/** The module whose `start` it calls. */
export const START = pathToFileURL(
  built === undefined
    ? join(dirname(MAIN), 'start', 'start.ts')
    : join(dirname(built), '..', 'start', 'start.js'),
).href;
