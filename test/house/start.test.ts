/**
 * Proves that a start loads only what the command needs: the modules of `--version`, `ps`, completion and `openCoppice` are counted, and none belongs to
 * the providers, Telegram, PostgreSQL, the terminal UI or ACP. A start that does load one of these is detected by the same check.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { temporaryFolder } from '../temporary-folder.ts';
import { COMPILED } from './compiled.ts';

const root = join(import.meta.dirname, '..', '..');
const HOOK = pathToFileURL(join(import.meta.dirname, 'loaded-modules.ts')).href;
const MAIN = join(root, 'src', 'cli', 'main.ts');

/** Modules that few commands need, by the path from which they are loaded. */
const HEAVY: Readonly<Record<string, RegExp>> = {
  providers: /\/node_modules\/@ai-sdk\//,
  Telegram: /\/node_modules\/grammy\//,
  PostgreSQL: /\/node_modules\/pg\//,
  'the terminal UI': /\/node_modules\/(?:@earendil-works|highlight\.js)\//,
  ACP: /\/node_modules\/@agentclientprotocol\//,
  MCP: /\/node_modules\/@modelcontextprotocol\//,
  pictures: /\/node_modules\/sharp\//,
  'the web': /\/node_modules\/(?:@mozilla|@joplin|linkedom|turndown|robots-parser|proxy-from-env)\//,
  'the shell parser': /\/node_modules\/unbash\//,
};
const SCHEMAS = /\/node_modules\/zod\//;

const folder = temporaryFolder();

function loaded(args: readonly string[]): readonly string[] {
  const list = join(folder, 'loaded');
  writeFileSync(list, '');
  execFileSync(process.execPath, [`--import=${HOOK}`, ...args], {
    env: {
      ...COMPILED,
      PATH: process.env.PATH,
      HOME: folder,
      XDG_CACHE_HOME: join(folder, 'cache'),
      XDG_CONFIG_HOME: folder,
      XDG_DATA_HOME: folder,
      LOADED_MODULES: list,
    },
    cwd: folder,
  });
  const urls = readFileSync(list, 'utf8').trimEnd().split('\n');
  return urls.filter((url) => url.startsWith('file:')).map((url) => fileURLToPath(url));
}

function heavy(modules: readonly string[]): readonly string[] {
  return Object.keys(HEAVY).filter((name) => modules.some((path) => HEAVY[name]?.test(path)));
}

function opens(name: string, line: string): string {
  const file = join(folder, name);
  writeFileSync(file, line);
  return file;
}

const OPEN = `import { openCoppice } from ${JSON.stringify(pathToFileURL(join(root, 'src', 'coppice.ts')))};
await (await openCoppice({ database: 'opened.db', model: 'a/b' })).close();`;

describe('a start', () => {
  it('of --version loads the entry and what prints', () => {
    assert.deepEqual(
      loaded([MAIN, '--version']).map((path) => path.slice(root.length + 1)),
      [
        'src/cli/entry/main.cjs',
        'src/settings/node-version.cjs',
        'src/settings/cache-folder.cjs',
        'src/cli/start/start.ts',
      ],
    );
  });

  it('is silent about the SQLite of Node, which older ones call experimental, and of nothing else', () => {
    const warn = (text: string) => `process.emitWarning(${JSON.stringify(text)}, 'ExperimentalWarning');`;
    const lines = warn('SQLite is an experimental feature') + warn('Another is an experimental feature');
    const late = `data:text/javascript,process.once('beforeExit', () => { ${encodeURIComponent(lines)} })`;
    const { status, stderr } = spawnSync(process.execPath, [`--import=${late}`, MAIN, '--version'], {
      encoding: 'utf8',
    });
    assert.equal(status, 0);
    assert.match(stderr, /Another is an experimental feature/);
    assert.doesNotMatch(stderr, /SQLite/);
  });

  it('of ps loads the command line, the ledger and its table, and no schemas', () => {
    const modules = loaded([MAIN, 'ps']);
    assert.deepEqual(heavy(modules), []);
    assert.deepEqual(
      modules.filter((path) => SCHEMAS.test(path)),
      [],
    );
    assert.ok(modules.length <= 143, `${modules.length} modules`);
  });

  it('of ps with a configuration loads its schemas, too', () => {
    writeFileSync(join(folder, 'config.json'), '{"model": "a/b"}');
    const modules = loaded([MAIN, 'ps', '--config', 'config.json']);
    assert.deepEqual(heavy(modules), []);
    assert.ok(modules.length <= 254, `${modules.length} modules`);
  });

  it('of a completion loads no schemas', () => {
    const modules = loaded([MAIN, '__complete', 'show', '']);
    assert.deepEqual(heavy(modules), []);
    assert.ok(modules.length <= 70, `${modules.length} modules`);
  });

  it('of the library loads the executor and the tools', () => {
    const modules = loaded([opens('open.mjs', OPEN)]);
    assert.deepEqual(heavy(modules), []);
    assert.ok(modules.length <= 474, `${modules.length} modules`);
  });

  it('that loads one of the others is caught', () => {
    const address = (name: string) => JSON.stringify(import.meta.resolve(name));
    const names = [
      '@ai-sdk/openai',
      'grammy',
      'pg',
      '@earendil-works/pi-tui',
      'sharp',
      '@mozilla/readability',
      'unbash',
      '@modelcontextprotocol/client',
    ];
    const acp = '@agentclientprotocol/sdk';
    const lines = [...names, acp].map((name) => `import ${address(name)};`).join('\n');
    assert.deepEqual(heavy(loaded([opens('heavy.mjs', lines)])), Object.keys(HEAVY));
  });
});
