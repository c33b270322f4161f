/**
 * Proves that a program outside the repository can use `coppice/core` of the packed package: npm installs it without the binary of ripgrep, an example of
 * each seam runs, its types hold in strict programs with and without those of Node, it loads nothing of what it leaves out, and it shares its classes
 * with `coppice`.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { temporaryFolder } from '../temporary-folder.ts';
import { CORE_EXAMPLES } from './core-examples.ts';
import { packClone } from './pack-clone.ts';

const root = join(import.meta.dirname, '..', '..');
const hook = pathToFileURL(join(import.meta.dirname, 'loaded-modules.ts')).href;

const TYPES = `import { type Core, defineTool, type Model, openCore, openSqlite, type Store, type Tool, type Toolset } from 'coppice/core';

const tool: Tool = defineTool<{ tree: string }>({ name: 'rings', description: 'x', input: { type: 'object' }, run: ({ tree }) => tree }) as Tool;
const none: Toolset = { name: 'none', tools: [], guidance: '' };
export const open = async (store: Store, mine: Model): Promise<Core> =>
  openCore({ store: { ...store, kill: async () => ({ ids: [] }) }, models: { mine }, tools: [tool], toolsets: [none] });
export const byName = async (mine: Model): Promise<Core> => openCore({ store: await openSqlite('x'), models: () => mine });
// @ts-expect-error: a ledger is needed.
export const wrong = (): Promise<Core> => openCore({ models: {} });
// @ts-expect-error: a model is needed.
export const unclear = async (core: Core) => core.start({ prompt: 'x' });
// @ts-expect-error: an option is misspelt.
export const misspelt = async (core: Core) => core.start({ prompt: 'x', model: 'y', tool: [] });
`;

const BOTH = `import { CoppiceError, createScriptedModel, defineTool, openCoppice } from 'coppice';
import { CoppiceError as CoreError, openCore, openSqlite } from 'coppice/core';

const scripted = createScriptedModel({ rules: [{ when: { step: 0 }, calls: [{ name: 'one', input: {} }] }, { say: 'it says {{results.one.0}}' }] }, 'scripted');
const one = defineTool({ name: 'one', description: 'x', input: { type: 'object' }, run: () => '1' });
const store = await openSqlite('both.db');
const core = await openCore({ store, models: { scripted }, tools: [one] });
const { id, result } = await core.start({ prompt: 'try', model: 'scripted' });
console.log((await result()).reply, CoppiceError === CoreError);
await core.close();
await store.close();
const coppice = await openCoppice({ database: 'both.db', model: 'scripted', models: { scripted }, tools: [one] });
const again = await coppice.resume(id);
await again.send('and again');
console.log((await again.result()).reply);
await coppice.close();
`;

describe('coppice/core of the package', () => {
  const folder = temporaryFolder();
  const app = join(folder, 'app');
  const env = { ...process.env, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const run = (args: readonly string[], more: NodeJS.ProcessEnv = {}) =>
    execFileSync(process.execPath, args, { cwd: app, encoding: 'utf8', env: { ...env, ...more } });

  before(() => {
    const packages = ['zod', '@vscode/ripgrep'].map((name) => join(root, 'node_modules', name));
    const npm = (args: readonly string[], cwd: string) =>
      execFileSync('npm', args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
    packClone(folder);
    // What the package depends on is packed, too, so that no registry is asked.
    npm(['pack', '--silent', '--ignore-scripts', '--pack-destination', folder, ...packages], folder);
    const packed = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
    mkdirSync(app);
    writeFileSync(join(app, 'package.json'), '{"type": "module", "private": true}');
    const quiet = ['--offline', '--no-audit', '--no-fund', '--omit=optional'];
    npm(['install', ...quiet, ...packed.map((name) => join(folder, name))], app);
    cpSync(join(app, 'node_modules', 'coppice', 'examples', 'core'), app, { recursive: true });
  });

  it('is installed without the binary of ripgrep', () => {
    assert.deepEqual(readdirSync(join(app, 'node_modules', '@vscode')), ['ripgrep']);
    assert.equal(existsSync(join(app, 'node_modules', 'coppice', 'src')), false);
  });

  it('an example of each seam runs', () => {
    const there = readdirSync(join(app, 'node_modules', 'coppice', 'examples', 'core'));
    assert.deepEqual(there.toSorted(), Object.keys(CORE_EXAMPLES).toSorted());
    for (const [file, output] of Object.entries(CORE_EXAMPLES)) assert.match(run([file]), output, file);
    assert.match(readFileSync(join(app, 'audit.log'), 'utf8'), /^[\da-f-]{36} idle$/m);
  });

  it('loads two files and zod, unbash and re2js at most', () => {
    const list = join(folder, 'loaded');
    run(['--import', hook, 'toolset.ts'], { LOADED_MODULES: list });
    const loaded = readFileSync(list, 'utf8').match(/(?<=node_modules\/).+/g) ?? [];
    const files = new Set(loaded.filter((file) => !file.startsWith('zod/')));
    assert.ok(files.has('coppice/dist/library/core.js'));
    for (const file of files)
      assert.match(file, /^coppice\/dist\/(?:library\/(?:core|engine)\.js|lazy\/(?:unbash|re2js)\.cjs)$/);
  });

  it('shares its classes, tools, models and ledgers with coppice', () => {
    writeFileSync(join(app, 'both.js'), BOTH);
    assert.equal(run(['both.js']), 'it says 1 true\nit says 1\n');
  });

  it('its types hold in strict programs, with and without those of Node', () => {
    writeFileSync(join(app, 'types.ts'), TYPES);
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--noEmit'];
    const hold = (files: readonly string[], more: readonly string[]) => {
      for (const module of [['nodenext'], ['preserve', '--moduleResolution', 'bundler']]) {
        const args = [tsc, ...strict, '--target', 'es2024', '--module', ...module, ...more, ...files];
        const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: app, encoding: 'utf8' });
        assert.equal(stdout + stderr, '', args.join(' '));
      }
    };
    hold(['types.ts'], []);
    for (const name of ['@types/node', 'undici-types']) {
      mkdirSync(join(app, 'node_modules', name, '..'), { recursive: true });
      symlinkSync(join(root, 'node_modules', name), join(app, 'node_modules', name));
    }
    const examples = Object.keys(CORE_EXAMPLES);
    hold(['types.ts', ...examples], ['--types', 'node', '--allowImportingTsExtensions']);
  });
});
