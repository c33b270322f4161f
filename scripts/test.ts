import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * `npm test [-- FILTER…]`: every test file below test/ (or those whose path holds a filter), with Node's own runner. Options of the runner
 * (`--test-name-pattern=…`) are passed on; a reporter of one's own takes the place of the usual one.
 */
const OLDEST_NODE = 24;
const root = join(import.meta.dirname, '..');

if (Number(process.versions.node.split('.')[0]) < OLDEST_NODE) {
  console.error(`the tests need Node ${OLDEST_NODE}, which npm ci brings along; run them with: npm test`);
  process.exit(2);
}
const given = process.argv.slice(2);
const options = given.filter((text) => /^--(no-)?test-/.test(text));
const filters = given.filter((text) => !options.includes(text));
const files = globSync('test/**/*.test.ts', { cwd: root })
  .filter((file) => filters.length === 0 || filters.some((filter) => file.includes(filter)))
  .sort();
if (files.length === 0) {
  console.error(`no test file matches ${filters.join(' ')}`);
  process.exit(1);
}
// Sources are compiled once, not by each of the thousand processes.
const compiled = join(root, 'node_modules', '.cache', 'coppice-tests');
// No test may reach the user's own ledger, configuration or keys.
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/_API_KEY$|^COPPICE_|^DATABASE_URL$/.test(name)),
);
const reporter = options.some((option) => option.startsWith('--test-reporter='))
  ? []
  : ['--test-reporter=spec'];
const result = spawnSync(
  process.execPath,
  [
    '--test',
    '--test-concurrency=2',
    '--test-timeout=120000',
    `--import=${pathToFileURL(join(import.meta.dirname, 'leftovers.ts'))}`,
    ...reporter,
    ...options,
    ...files,
  ],
  {
    cwd: root,
    stdio: 'inherit',
    env: { NODE_COMPILE_CACHE: compiled, ...env },
  },
);
process.exit(result.status ?? 1);
