import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

/**
 * `npm run bench:start [-- --rounds N]`: measures whole processes of short commands, from the installed package and from the sources, compared with bare
 * Node: the median of wall-clock time, the mean of CPU. The first run of each, which fills the compile cache, is not counted. Installing asks the registry
 * for four packages.
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

mkdirSync(app);
writeFileSync(join(app, 'package.json'), '{"type": "module", "private": true}');
run('npm', ['pack', '--silent', '--pack-destination', folder], root, process.env);
run('npm', ['install', '--no-fund', '--no-audit', join(folder, 'coppice-0.1.0.tgz')], app, process.env);
const megabytes = run('du', ['-sm', 'node_modules']).split('\t')[0];

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

interface Places {
  readonly main: string;
  readonly library: string;
}
const PLACES: Readonly<Record<string, Places>> = {
  installed: { main: join(app, 'node_modules/coppice/dist/cli/entry/main.cjs'), library: 'coppice' },
  source: { main: join(root, 'src/cli/main.ts'), library: join(root, 'src/coppice.ts') },
};

// Makes something to list and to complete.
const rules = join(folder, 'rules.json');
writeFileSync(rules, '{"rules": [{"say": "done"}]}');
run(process.execPath, [PLACES.installed?.main ?? '', 'run', '--model', `scripted:${rules}`, 'begin']);

console.log(
  `Node ${process.version}, ${availableParallelism()} cores, load ${loadavg()[0]?.toFixed(1)}, ${rounds} rounds; node_modules: ${megabytes} MB\n`,
);
console.log('| process | wall | CPU | × CPU of bare Node |\n| --- | --- | --- | --- |');
const bare = measure(['-e', '0']);
row('`node -e 0`', bare);
for (const [place, { main, library }] of Object.entries(PLACES)) {
  row(`\`coppice --version\`, ${place}`, measure([main, '--version']));
  row(`\`coppice ps\`, ${place}`, measure([main, 'ps']));
  row(`completion of an id, ${place}`, measure([main, '__complete', 'show', '']));
  row(`\`openCoppice\`, ${place}`, measure([opener(place, library, false)]));
  row(`\`openCoppice\`, ${place}, compile cache`, measure([opener(`${place}-cached`, library, true)]));
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
