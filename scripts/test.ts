import { spawn } from 'node:child_process';
import { chmodSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, constants, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { stop } from 'esbuild';
import { hasRoom, MEMORY, memoryFolder } from '../test/temporary-folder.ts';
import { buildTestProgram } from './build/test-program.ts';
import { buildWeb } from './build/web.ts';
import { groupFiles } from './test-groups.ts';
import { offerPostgres } from './test-postgres.ts';

/**
 * `npm test [-- FILTER…]`: runs every test file below test/ (or those whose path contains a filter) with Node's own runner. `npm run test:long` runs the
 * files `*.long.test.ts`, and repeats on PostgreSQL those that `npm test` runs on SQLite (test/runtime/both-databases.ts), except those that
 * `npm run test:promptly` runs there. `npm run test:deep` runs the files `*.deep.test.ts`, and with all repetitions those that repeat less often elsewhere
 * (test/house/deep.ts). Options of the runner (`--test-name-pattern=…`) are passed on; a custom reporter replaces the default one.
 */
const OLDEST_NODE = 24;
const OWN_OPTIONS = ['--long', '--promptly', '--deep'];
/** Folders that `npm run test:promptly` runs on both databases. */
const PROMPT = ['toolsets', 'waits', 'executor', 'permissions', 'leading'].map(
  (room) => `test/runtime/${room}/`,
);
const root = join(import.meta.dirname, '..');

if (Number(process.versions.node.split('.')[0]) < OLDEST_NODE) {
  console.error(`the tests need Node ${OLDEST_NODE}, which npm ci brings along; run them with: npm test`);
  process.exit(2);
}
const given = process.argv.slice(2);
const long = given.includes('--long');
const deep = given.includes('--deep');
const promptly = given.includes('--promptly');
const options = given.filter((text) => /^--(no-)?test-/.test(text));
const named = given.filter((text) => !OWN_OPTIONS.includes(text) && !options.includes(text));
const filters = promptly && named.length === 0 ? PROMPT : named;
const matching = globSync('test/**/*.test.ts', { cwd: root })
  .filter((file) => filters.length === 0 || filters.some((filter) => file.includes(filter)))
  .sort();
const files = matching.filter((file) =>
  deep ? runsDeep(file) : long ? runsLong(file) : !/\.(long|deep)\.test\.ts$/.test(file),
);
if (files.length === 0) {
  const suite = matching.every((file) => file.endsWith('.deep.test.ts')) ? ':deep' : long ? '' : ':long';
  const elsewhere = matching.length === 0 ? '' : `; npm run test${suite} -- has those that do`;
  console.error(`no ${long ? 'long ' : ''}test file matches ${filters.join(' ')}${elsewhere}`);
  process.exit(1);
}

function runsLong(file: string): boolean {
  if (file.endsWith('.long.test.ts')) return true;
  if (file.endsWith('.deep.test.ts')) return false;
  return holds(file, /\bonBothDatabases\(/) && !PROMPT.some((room) => file.startsWith(room));
}

function runsDeep(file: string): boolean {
  return file.endsWith('.deep.test.ts') || holds(file, /\/deep\.ts'/);
}

function holds(file: string, what: RegExp): boolean {
  return what.test(readFileSync(join(root, file), 'utf8'));
}

/** Builds once for all tests that open pages or start the program, also for a test run that a test starts. */
async function build(): Promise<string> {
  await buildWeb(root, join(root, 'dist'));
  const program = await buildTestProgram(root);
  await stop();
  return program;
}

// No test may reach the user's own ledger, configuration or keys.
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/_API_KEY$|^COPPICE_|^DATABASE_URL$/.test(name)),
);
const reporter = options.some((option) => option.startsWith('--test-reporter='))
  ? []
  : ['--test-reporter=spec'];
// In memory if there is room: waiting for the disk leaves processors idle, and no test simulates a power failure.
const in_memory = env.TMPDIR === undefined && hasRoom(MEMORY);
const folder = in_memory ? memoryFolder('t') : mkdtempSync(join(tmpdir(), 'coppice-tests-'));
// Started by root, PostgreSQL runs as another user, who must be able to reach its files in here.
chmodSync(folder, 0o711);
const program = process.env.COPPICE_TEST_PROGRAM ?? (await build());
const postgres = await offerPostgres();
// A test that hangs is told soon; one that takes longer by nature says so (`timeout`). What else the machine does at the start makes all tests slower.
const busy = Math.max(1, (loadavg()[0] ?? 0) / availableParallelism());
const longest_ms = deep ? 3_600_000 : long ? 600_000 : Math.round(20_000 * busy);
const runner = spawn(
  process.execPath,
  [
    '--test',
    // Long tests keep the processors busy by themselves.
    `--test-concurrency=${long || deep ? 4 : 8}`,
    `--test-timeout=${longest_ms}`,
    `--import=${pathToFileURL(join(import.meta.dirname, 'leftovers.ts'))}`,
    ...reporter,
    ...options,
    ...groupFiles(root, files, folder),
  ],
  {
    cwd: root,
    stdio: 'inherit',
    env: {
      // Sources are compiled once, not by each process.
      NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'coppice-tests'),
      ...env,
      // Not every machine supports the sandbox; its own tests turn it on where it is supported.
      COPPICE_SANDBOX: 'off',
      // An interrupted test file removes nothing; its temporary folders are removed with this one.
      TMPDIR: folder,
      COPPICE_TEST_POSTGRES: postgres.address,
      COPPICE_TEST_PROGRAM: program,
      COPPICE_TEST_BLOCKED_MS: String(longest_ms),
      ...(long ? { COPPICE_TEST_LONG: '1' } : {}),
      ...(deep ? { COPPICE_TEST_DEEP: '1' } : {}),
      ...(promptly ? { COPPICE_TEST_NO_POLLS: '1' } : {}),
    },
  },
);
// Ctrl-C reaches the runner directly, which ends its files; then the server is stopped here.
process.on('SIGINT', () => undefined);
for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => runner.kill(signal));
const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) =>
  runner.once('exit', (...outcome) => resolve(outcome)),
);
await postgres.stop();
// Interrupted processes may still write while they end.
rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
process.exit(code ?? 128 + constants.signals[signal ?? 'SIGTERM']);
