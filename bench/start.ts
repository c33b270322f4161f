import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

/**
 * `npm run bench:start [-- --rounds N]`: measures whole processes of short commands, from the installed package and from the sources, compared with bare
 * Node: the median of wall-clock time, the mean of CPU. The first run of each, which fills the compile cache, is not counted. Before that, the sizes: of what npm
 * installs, with and without optional packages (which `coppice/core` does not need), and of the files that a program which opens the library loads. Installing
 * asks the registry for four packages.
 */
const { rounds } = parseArgs({ options: { rounds: { type: 'string', default: '15' } } }).values;
const root = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'coppice-start-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const app = join(folder, 'app');
const env = {
  PATH: process.env.PATH,
  HOME: folder,
  XDG_CACHE_HOME: join(folder, 'cache'),
  XDG_CONFIG_HOME: folder,
  XDG_DATA_HOME: folder,
};

const run = (program: string, args: readonly string[], cwd = app, its_env: NodeJS.ProcessEnv = env): string =>
  execFileSync(program, args, { cwd, env: its_env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });

run('npm', ['pack', '--silent', '--pack-destination', folder], root, process.env);
const whole = installed(app);
const without_optional = installed(join(folder, 'lean'), '--omit=optional');

/** Installs the package into a new folder; returns the kilobytes of what npm wrote. */
function installed(into: string, ...more: readonly string[]): number {
  mkdirSync(into);
  writeFileSync(join(into, 'package.json'), '{"type": "module", "private": true}');
  const args = ['install', '--no-fund', '--no-audit', ...more, join(folder, 'coppice-0.1.0.tgz')];
  run('npm', args, into, process.env);
  return Number(run('du', ['-sk', 'node_modules'], into).split('\t')[0]);
}

/** Writes a program that opens its own ledger and returns its path. `cached`: whether it enables Node's compile cache. */
function opener(name: string, library: string, cached: boolean): string {
  const cache = cached
    ? "import { enableCompileCache } from 'node:module';\nenableCompileCache(process.env.XDG_CACHE_HOME);\n"
    : '';
  const file = join(app, `${name}.mjs`);
  const open = `const { openCoppice } = await import(${JSON.stringify(library)});
await (await openCoppice({ database: '${name}.db', model: 'none/none' })).close();\n`;
  writeFileSync(file, cache + open);
  return file;
}

/** Writes a program that opens the engine alone on its own ledger and returns its path. */
function coreOpener(name: string, core: string): string {
  const file = join(app, `${name}-core.mjs`);
  writeFileSync(
    file,
    `const { openCore, openSqlite } = await import(${JSON.stringify(core)});
const store = await openSqlite('${name}-core.db');
await (await openCore({ store, models: {} })).close();
await store.close();\n`,
  );
  return file;
}

interface Places {
  readonly main: string;
  readonly library: string;
  readonly core: string;
}
const PLACES: Readonly<Record<string, Places>> = {
  installed: {
    main: join(app, 'node_modules/coppice/dist/cli/entry/main.cjs'),
    library: 'coppice',
    core: 'coppice/core',
  },
  source: {
    main: join(root, 'src/cli/main.ts'),
    library: join(root, 'src/coppice.ts'),
    core: join(root, 'src/core.ts'),
  },
};

// Makes something to list and to complete.
const rules = join(folder, 'rules.json');
writeFileSync(rules, '{"rules": [{"say": "done"}]}');
run(process.execPath, [PLACES.installed?.main ?? '', 'run', '--model', `scripted:${rules}`, 'begin']);

console.log(
  `Node ${process.version}, ${availableParallelism()} cores, load ${loadavg()[0]?.toFixed(1)}, ${rounds} rounds\n`,
);
const coppice = opener('size', 'coppice', false);
console.log('| size | `coppice` | `coppice/core` |\n| --- | --- | --- |');
console.log(
  `| \`node_modules\` | ${megabytes(whole)} | ${megabytes(without_optional)} (\`--omit=optional\`) |`,
);
console.log(
  `| files that a start loads | ${loadedBy(coppice)} | ${loadedBy(coreOpener('size', 'coppice/core'))} |\n`,
);
console.log('| process | wall | CPU | × CPU of bare Node |\n| --- | --- | --- | --- |');
const bare = measure(['-e', '0']);
row('`node -e 0`', bare);
for (const [place, { main, library, core }] of Object.entries(PLACES)) {
  row(`\`coppice --version\`, ${place}`, measure([main, '--version']));
  row(`\`coppice ps\`, ${place}`, measure([main, 'ps']));
  row(`completion of an id, ${place}`, measure([main, '__complete', 'show', '']));
  row(`\`openCoppice\`, ${place}`, measure([opener(place, library, false)]));
  row(`\`openCore\`, ${place}`, measure([coreOpener(place, core)]));
  row(`\`openCoppice\`, ${place}, compile cache`, measure([opener(`${place}-cached`, library, true)]));
}

function megabytes(kilobytes: number): string {
  return `${(kilobytes / 1024).toFixed(1)} MB`;
}

/** Number and size of the files of packages that a program loads. */
function loadedBy(program: string): string {
  const list = join(folder, 'loaded');
  rmSync(list, { force: true });
  const hook = pathToFileURL(join(root, 'test', 'house', 'loaded-modules.ts')).href;
  run(process.execPath, ['--import', hook, program], app, { ...env, LOADED_MODULES: list });
  const files = readFileSync(list, 'utf8').match(/^file:.*\/node_modules\/.*$/gm) ?? [];
  const bytes = files.reduce((sum, file) => sum + statSync(fileURLToPath(file)).size, 0);
  return `${files.length}, ${megabytes(bytes / 1024)}`;
}

interface Cost {
  readonly wall_ms: number;
  readonly cpu_ms: number;
}

function measure(args: readonly string[]): Cost {
  run(process.execPath, args);
  const before = childrenCpu();
  const times = Array.from({ length: Number(rounds) }, () => {
    const from = performance.now();
    run(process.execPath, args);
    return performance.now() - from;
  });
  times.sort((a, b) => a - b);
  return { wall_ms: times[times.length >> 1] ?? 0, cpu_ms: (childrenCpu() - before) / times.length };
}

/** Milliseconds of CPU of all child processes that have ended; Linux counts them in hundredths of a second. */
function childrenCpu(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[13]) + Number(fields[14])) * 10;
}

function row(name: string, { wall_ms, cpu_ms }: Cost): void {
  const times = (cpu_ms / bare.cpu_ms).toFixed(1);
  console.log(`| ${name} | ${wall_ms.toFixed(0)} ms | ${cpu_ms.toFixed(0)} ms | ${times} |`);
}
