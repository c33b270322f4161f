/**
 * Proves that the `npm pack` of a fresh clone works where it is installed: it is built, its command runs, its types hold in a strict program, its
 * examples run; and that an older Node gets one sentence that names the required version, from the sources as from the package.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { before, describe, it } from 'node:test';
import { Script } from 'node:vm';
import { Ajv } from 'ajv';
import { SBOM } from '../../scripts/build/sbom.ts';
import { nodeTooOld } from '../../src/settings/node-version.cjs';
import { temporaryFolder } from '../temporary-folder.ts';
import { type Component, type Locked, packagesOf } from './bundled-packages.ts';
import { packClone } from './pack-clone.ts';

const root = join(import.meta.dirname, '..', '..');
/** A PNG of one pixel. */
const RED_PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
/** Programs of older Nodes in PATH. */
const OLDER = (process.env.PATH ?? '').split(delimiter).flatMap((path) => {
  const node = join(path, 'node');
  const { stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' });
  return Number(/^v(\d+)/.exec(stdout ?? '')?.[1] ?? 24) < 24 ? [node] : [];
});
const skip = OLDER.length === 0 && 'there is no older Node here';

const PROGRAM = `import { type Coppice, type CoppiceOptions, type CoppiceClient, createScriptedModel, defineTool, type DocumentOf, openClient, openCoppice, type RunningWorkflow, type TreeOutcome, type WorkflowGlobals } from 'coppice';

const more: Partial<CoppiceOptions> = {
  agents: { defaults: { thinking: 'low', subagents: { maxConcurrent: 4 } }, reviewer: { tools: ['read'], turns: 3 } },
  runs: { maxConcurrent: 20, perSource: { cron: 1 } },
  acp: { program: { command: 'x', args: ['y'] } as const },
};
const scripted = createScriptedModel({ rules: [{ say: 'it works' }] }, 'types');
const coppice: Coppice = await openCoppice({ database: 'types.db', model: 'types', models: { types: scripted }, ...more });
const outcome: TreeOutcome = await (await coppice.start({ prompt: 'try it' })).result();
const client: CoppiceClient = openClient({ url: 'http://127.0.0.1:4747', token: 'x' });
export const status = async (id: string): Promise<string> => (await client.agent(id)).status;
export const started = (): Promise<DocumentOf<'coppice/entered/v1'>> => client.startTree({ prompt: 'x', limits: { depth: 2 } });
// @ts-expect-error: a prompt is needed.
export const unclear = () => client.startTree({ name: 'x' });
// @ts-expect-error: a database is needed.
export const wrong = (): Promise<Coppice> => openCoppice({ model: 'types' });
console.log(outcome.reply, typeof defineTool);
const script = "export const meta = { name: 'script', description: 'x' };\\nreturn { said: await agent('try it'), args };";
const value: { readonly said: string } = await (await coppice.workflow<{ readonly said: string }>(script, [1])).result();
async function both({ parallel, agent, args }: WorkflowGlobals<{ readonly n: number }>) {
  const [said, n] = await parallel([() => agent('try it', { onFailure: 'throw' }), () => args.n] as const);
  return { said, n };
}
const run: RunningWorkflow<{ said: string | null; n: number | null }> = await coppice.workflow(both, { n: 2 }, { id: 'both' });
// @ts-expect-error: other arguments than the function takes.
export const other = () => coppice.workflow(both, { m: 2 });
// @ts-expect-error: an agent may give null.
export const length = () => coppice.workflow(async ({ agent }) => (await agent('x')).length);
console.log(JSON.stringify(value), JSON.stringify(await run.result()), (await run.outcome()).succeeded);
await coppice.close();
`;

describe('the package', () => {
  const folder = temporaryFolder();
  const home = join(folder, 'home');
  const installed = join(home, 'node_modules', 'coppice');

  const run = (program: string, args: readonly string[], cwd = home) =>
    execFileSync(program, args, {
      cwd,
      encoding: 'utf8',
      env: { ...process.env, XDG_DATA_HOME: home, XDG_CONFIG_HOME: home },
      stdio: ['ignore', 'pipe', 'pipe'],
    });

  before(() => {
    const packed = packClone(folder);
    mkdirSync(installed, { recursive: true });
    run('tar', ['-xzf', packed, '--strip-components=1', '-C', installed], folder);
    const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
    };
    for (const name of [...Object.keys(dependencies), '@types/node', 'undici-types']) link(name);
    writeFileSync(join(home, 'package.json'), '{"type": "module"}');
  });

  function write(name: string, text: string): string {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  }

  /** Links a package to where it is really installed, so that its own dependencies are found. */
  function link(name: string): void {
    const at = join(home, 'node_modules', name);
    mkdirSync(join(at, '..'), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), at);
  }

  it('holds what is needed, and no sources', () => {
    for (const part of [
      'dist/library/coppice.js',
      'dist/coppice.d.ts',
      'docs/library.md',
      'docs/config.schema.json',
      'examples/library.ts',
    ])
      assert.ok(existsSync(join(installed, part)), part);
    assert.equal(existsSync(join(installed, 'src')), false);
  });

  it('its command runs', () => {
    const { bin } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as {
      bin: { coppice: string };
    };
    const rules = write('rules.json', JSON.stringify({ rules: [{ say: 'hello from the package' }] }));
    const args = ['run', '--model', `scripted:${rules}`, '--database', 'run.db', 'say hello'];
    assert.equal(run(process.execPath, [join(installed, bin.coppice), ...args]), 'hello from the package\n');
    assert.equal(run(process.execPath, [join(installed, bin.coppice), '--version']), '0.1.0\n');
    // Warnings of bundled packages are no business of people.
    const { stderr } = spawnSync(process.execPath, [join(installed, bin.coppice), 'doctor'], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, HOME: folder },
    });
    assert.equal(stderr, '');
  });

  it('has the licences of the packages that it holds, and asks for few others', () => {
    const text = readFileSync(join(installed, 'dist', 'third-party-licences.txt'), 'utf8');
    for (const name of ['commander', 'zod', '@ai-sdk/openai', 'pg', 'grammy', 'highlight.js'])
      assert.match(text, new RegExp(`^${name} \\d+\\.\\d+\\.\\d+: [\\w.-]+$`, 'm'));
    const { dependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as {
      dependencies: object;
    };
    assert.deepEqual(Object.keys(dependencies), ['@vscode/ripgrep', 'zod']);
  });

  it('starts the thread of a workflow script from a file of its own, without that of the command line', () => {
    const text = readFileSync(join(installed, 'dist', 'script-worker.js'), 'utf8');
    assert.doesNotMatch(text, /(?:from|import) ?\(?["']\.\/chunks\//);
    assert.match(text, /parentPort/);
  });

  it('has a bill of materials that the schema of CycloneDX accepts, with every package that it holds or installs', async () => {
    const bill = JSON.parse(readFileSync(join(installed, 'dist', SBOM), 'utf8'));
    const schemas = join(root, 'node_modules', '@cyclonedx', 'cyclonedx-library', 'res', 'schema');
    const schema = (name: string) =>
      JSON.parse(readFileSync(join(schemas, `${name}.SNAPSHOT.schema.json`), 'utf8'));
    const ajv = new Ajv({ strict: false, validateFormats: false });
    for (const name of ['spdx', 'jsf-0.82', 'cryptography-defs'])
      ajv.addSchema(schema(name), `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`);
    const isValid = ajv.compile(schema('bom-1.7'));
    assert.ok(isValid(bill), ajv.errorsText(isValid.errors));
    const { components } = bill as { components: Component[] };
    const listed = components.map(({ name, version }) => `${name}@${version}`);
    assert.deepEqual(listed, [...new Set(listed)], 'each once');
    const at = (place: string) => {
      const there = components.filter(({ properties }) => properties.some(({ value }) => value === place));
      return new Set(there.map(({ name, version }) => `${name}@${version}`));
    };
    const lazy = readdirSync(join(installed, 'dist', 'lazy')).map((file) => file.replace('.cjs', ''));
    for (const [part, entryPoints] of [
      [
        'program',
        [
          'src/cli/start/start.ts',
          'src/tools/web/page-worker.ts',
          'src/models/workflow/script-worker.ts',
          ...lazy,
        ],
      ],
      ['library', ['src/coppice.ts', 'src/core.ts', 'src/testing.ts']],
      ['dashboard', ['web/dashboard.tsx', 'web/text.ts']],
    ] as const) {
      const { held, read } = await packagesOf(root, entryPoints);
      // They belong to `abort-controller` and `whatwg-url`, which scripts/build/bundle.ts replaces.
      for (const name of held)
        if (/^(?:event-target-shim|tr46|webidl-conversions)@/.test(name)) held.delete(name);
      const listed = at(`bundled in the ${part}`);
      assert.ok(listed.size > 0, part);
      assert.deepEqual([...held.difference(listed)], [], `held by the ${part} and not listed`);
      assert.deepEqual([...listed.difference(read)], [], `listed and not in the ${part}`);
    }
    const beside = [...at('installed')].map((name) => name.replace(/@[^@]*$/, '')).sort();
    assert.deepEqual(
      beside.filter((name) => !name.startsWith('@vscode/ripgrep-')),
      ['@vscode/ripgrep', 'zod'],
    );
    assert.ok(beside.includes(`@vscode/ripgrep-${process.platform}-${process.arch}`));
    const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages as Locked;
    for (const { name, version, purl, licenses, hashes } of components) {
      const [{ license, expression } = {}] = licenses;
      const sha512 = `sha512-${Buffer.from(hashes[0]?.content ?? '', 'hex').toString('base64')}`;
      const found = Object.entries(lock).some(
        ([folder, one]) =>
          folder.endsWith(`node_modules/${name}`) &&
          one.version === version &&
          one.license === (license?.id ?? expression) &&
          one.integrity === sha512,
      );
      assert.ok(found, `${name}@${version}`);
      assert.equal(purl, `pkg:npm/${name.replace('@', '%40')}@${version}`);
    }
  });

  it('says what to install where a picture is to be read and sharp is not there', () => {
    writeFileSync(join(home, 'red.png'), Buffer.from(RED_PNG, 'base64'));
    const asks = { calls: [{ name: 'read_image', input: { path: 'red.png' } }] };
    const rules = write(
      'picture.json',
      JSON.stringify({ rules: [{ when: { step: 0 }, ...asks }, { say: 'seen' }] }),
    );
    const main = join(installed, 'dist', 'cli', 'entry', 'main.cjs');
    const args = [
      '--model',
      `scripted:${rules}`,
      '--database',
      'picture.db',
      '--allow',
      'read_image',
      'look',
    ];
    run(process.execPath, [main, 'run', ...args]);
    const told = run(process.execPath, [main, 'logs', '--database', 'picture.db']);
    assert.match(told, /pictures need the package sharp: npm install sharp/);
  });

  it('a strict TypeScript program compiles against its types, and runs', () => {
    writeFileSync(join(home, 'program.ts'), PROGRAM);
    const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess'];
    const target = ['--target', 'es2024', '--types', 'node', '--noEmit'];
    const resolutions = [
      ['--module', 'nodenext'],
      // It is enough here that the declarations are found: the `nodenext` run checks them.
      ['--module', 'node16', '--moduleResolution', 'node16', '--skipLibCheck'],
      ['--module', 'preserve', '--moduleResolution', 'bundler', '--skipLibCheck'],
    ];
    for (const resolution of resolutions) {
      const tsc = spawnSync(
        process.execPath,
        [
          join(root, 'node_modules', 'typescript', 'bin', 'tsc'),
          ...strict,
          ...target,
          ...resolution,
          'program.ts',
        ],
        { cwd: home, encoding: 'utf8' },
      );
      assert.equal(tsc.stdout + tsc.stderr, '', resolution.join(' '));
    }
    const workflows = '{"said":"it works","args":[1]} {"said":"it works","n":2} 1';
    assert.equal(run(process.execPath, ['program.ts']), `it works function\n${workflows}\n`);
  });

  it('the review service compiles with and without the types of Node, and goes on after kill -9', async () => {
    const example = readFileSync(join(installed, 'examples', 'review-service.ts'), 'utf8');
    assert.ok(example.split('\n').length <= 61, 'it stays short');
    writeFileSync(join(home, 'review-service.ts'), example);
    const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--noEmit'];
    for (const types of [
      ['--types', 'node'],
      ['--types', '', '--lib', 'es2024,esnext.disposable,dom'],
    ])
      for (const resolution of [
        ['--module', 'nodenext'],
        ['--module', 'preserve', '--moduleResolution', 'bundler'],
      ]) {
        const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
        const args = [tsc, ...strict, '--target', 'es2024', ...types, ...resolution, 'review-service.ts'];
        const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: home, encoding: 'utf8' });
        assert.equal(stdout + stderr, '', [...types, ...resolution].join(' '));
      }
    const first = spawn(process.execPath, ['review-service.ts'], {
      cwd: home,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    for await (const said of first.stdout) if (String(said).includes('read_change')) break;
    first.kill('SIGKILL');
    const said = run(process.execPath, ['review-service.ts']);
    assert.match(said, /\nmerge: false, because server\.ts is never closed\n$/);
    const ledger = new DatabaseSync(join(home, 'reviews.db'));
    assert.deepEqual({ ...ledger.prepare('SELECT count(*) AS agents FROM agents').get() }, { agents: 7 });
    ledger.close();
  });

  it('its tests of agents run', () => {
    const lines = [
      "import { expectTree, openTest } from 'coppice/testing';",
      "const coppice = await openTest({ rules: [{ say: 'hi' }] });",
      "await expectTree(await coppice.start({ prompt: 'x' }), { reply: 'hi' });",
      'await coppice.close();',
      "console.log('right');",
    ];
    writeFileSync(join(home, 'agents.test.ts'), lines.join('\n'));
    assert.equal(run(process.execPath, ['agents.test.ts']), 'right\n');
  });

  it('an older Node that opens its library hears which one is needed', { skip }, () => {
    const program =
      "import { openCoppice } from 'coppice'; await openCoppice({ database: 'x.db', model: 'a/b' });";
    writeFileSync(join(home, 'old.mjs'), program);
    const { stderr } = spawnSync(OLDER[0] as string, ['old.mjs'], { cwd: home, encoding: 'utf8' });
    assert.match(stderr, /CoppiceError: coppice needs Node\.js 24\.7 or newer; this is v/);
  });

  it('so does one that cannot even load it', () => {
    writeFileSync(join(home, 'none.cjs'), 'process.getBuiltinModule = undefined;');
    const program = ['--require', './none.cjs', '--input-type=module', '--eval', "import 'coppice'"];
    const { stderr } = spawnSync(process.execPath, program, { cwd: home, encoding: 'utf8' });
    assert.match(stderr, /^Error: coppice needs Node\.js 24\.7 or newer; this is v/m);
  });

  it('an example that is copied out of it runs', () => {
    writeFileSync(join(home, 'library.ts'), readFileSync(join(installed, 'examples', 'library.ts')));
    assert.match(run(process.execPath, ['library.ts']), /oak has 3 letters\. hazel has 5 letters\./);
  });
});

describe('an older Node', () => {
  const folder = join(root, 'src', 'cli');

  it('and another program that runs JavaScript get one sentence from the command, and exit code 2', () => {
    const disguise = join(temporaryFolder(), 'deno.cjs');
    writeFileSync(
      disguise,
      "Object.defineProperty(process, 'versions', { value: { ...process.versions, deno: '2.5.1' } });",
    );
    const entry = join(folder, 'entry', 'main.cjs');
    for (const [node, args] of [
      ...OLDER.map((one) => [one, []] as const),
      [process.execPath, ['--require', disguise]] as const,
    ]) {
      const { status, stdout, stderr } = spawnSync(node, [...args, entry, 'ps'], { encoding: 'utf8' });
      assert.deepEqual([status, stdout, stderr.split('\n').length], [2, '', 2], stderr);
      assert.match(stderr, /^coppice needs Node\.js 24\.7 or newer; this is (v|Deno )/);
    }
  });

  it('can read the entry: CommonJS, without types, without words of today', () => {
    assert.equal(readFileSync(join(folder, 'entry', 'package.json'), 'utf8').includes('"commonjs"'), true);
    const text = readFileSync(join(folder, 'main.ts'), 'utf8').replace(/^#!.*/, '');
    assert.doesNotThrow(() => new Script(text));
    assert.doesNotMatch(text, /\?\?|\?\.|\bawait\b|^export|^import/m);
  });

  it('is told by minor version too, and the package demands the same', () => {
    for (const version of ['18.20.0', '22.23.3', '24.0.0', '24.6.9'])
      assert.match(nodeTooOld(version) ?? '', /needs Node\.js 24\.7 or newer; this is v/);
    for (const version of ['24.7.0', '24.21.0', '25.0.0', '26.1.0']) assert.equal(nodeTooOld(version), null);
    for (const [name, said] of [
      ['deno', 'Deno 2.5.1'],
      ['bun', 'Bun 1.3.0'],
    ] as const)
      assert.equal(
        nodeTooOld('24.21.0', { [name]: said.split(' ')[1] }),
        `coppice needs Node.js 24.7 or newer; this is ${said}. Install Node.js from https://nodejs.org and run it with that`,
      );
    const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      engines: { node: string };
    };
    assert.equal(engines.node, '>=24.7');
  });

  it('hears which Node is needed', { skip }, () => {
    const { status, stdout, stderr } = spawnSync(OLDER[0] as string, [join(folder, 'main.ts'), 'ps'], {
      encoding: 'utf8',
    });
    assert.deepEqual([status, stdout], [2, '']);
    assert.match(stderr, /^coppice needs Node\.js 24\.7 or newer; this is v\d+\.\d+\.\d+\. .*\n$/);
  });
});
