import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';
import { nodeTooOld } from '../../src/settings/node-version.cjs';
import { heldFiles } from './held-files.ts';

/** Not in the bundle: packages with binaries, and optional dependencies of packages. */
const EXTERNAL = ['sharp', '@vscode/ripgrep', 'pg-native', 'canvas'];

/** Packages that the code loads at their first use, synchronously; each has a file of its own, so that a start does not read it. */
const LAZY = ['re2js', 'string-width', 'unbash'];

/** Loaded later, because PostgreSQL takes its place, but by nearly every program. */
const USUAL_STORE = 'src/store/sqlite/sqlite-store.ts';

/** Paths that hold only for code one folder below `dist`. */
const OUTSIDE = /new URL\(["']\.\.\/[\w-]+\.(?:js|wasm)["'], import|\(["']\.\.\/lazy\//;

/** WebAssembly that the code reads as a file, by the package that has it, and its name in `dist`. */
const WASM = { '@jitl/quickjs-ng-wasmfile-release-sync/wasm': 'quickjs.wasm' } as const;

/** Prelude for CommonJS packages that require built-in modules; only one chunk has it. */
const REQUIRE = `import { createRequire as createRequireOf } from 'node:module';
const require = createRequireOf(import.meta.url);
`;

/** Bundles the command line and what it starts into `dist`; returns every source file of which something went in, relative to `root`. */
export async function bundleProgram(root: string, dist: string): Promise<readonly string[]> {
  copyEntry(join(root, 'src'), dist);
  for (const [from, to] of Object.entries(WASM))
    copyFileSync(createRequire(join(root, 'package.json')).resolve(from), join(dist, to));
  const lazy = await bundle(root, dist, {
    entryPoints: Object.fromEntries(LAZY.map((name) => [`lazy/${name}`, name])),
    outExtension: { '.js': '.cjs' },
    format: 'cjs',
    splitting: false,
  });
  // In a file of its own: what it shares with a start is in the file of that start, and compiling all of that took longer than the thread.
  const script = await bundle(root, dist, {
    entryPoints: { 'script-worker': 'src/models/workflow/script-worker.ts' },
    splitting: false,
    // Each run reads it anew, and a fifth of the start was for the spaces. Names stay: scripts see those of functions.
    minifyWhitespace: true,
  });
  const program = await bundle(root, dist, {
    entryPoints: {
      'cli/start/start': 'src/cli/start/start.ts',
      'page-worker': 'src/tools/web/page-worker.ts',
      'launcher-program': 'src/processes/starting/launcher-program.ts',
    },
    chunkNames: 'chunks/[name]-[hash]',
  });
  await joinChunks(
    root,
    program.outputs,
    [
      {
        file: join(dist, 'chunks', 'completion.js'),
        roots: ['src/cli/completion/complete-words.ts', 'src/store/sqlite/read-only-ledger.ts'],
      },
      {
        file: join(dist, 'chunks', 'commands.js'),
        roots: ['src/cli/start/run-command-line.ts', 'src/cli/agents/ps.ts', USUAL_STORE],
      },
    ],
    ['src/cli/start/start.ts'],
  );
  return [...lazy.inputs, ...script.inputs, ...program.inputs];
}

/**
 * Bundles the library into `dist/library`; returns every source file of which something went in, relative to `root`. It shares no chunk with the command line, which
 * is split so that each command loads little (docs/decisions/0018-a-bundled-package.md), but it starts and loads the same files of `dist`, which
 * `bundleProgram` writes. `coppice` loads the chunks of `coppice/core`, so that both share their classes, and what only `coppice` needs.
 */
export async function bundleLibrary(root: string, dist: string): Promise<readonly string[]> {
  const names = ['coppice', 'core', 'testing'];
  const entryPoints = Object.fromEntries(names.map((name) => [`library/${name}`, `src/${name}.ts`]));
  const { inputs, outputs } = await bundle(root, dist, { entryPoints, chunkNames: 'library/chunk-[hash]' });
  await joinChunks(root, outputs, [
    // What the engine loads later is in the same file, so that it never loads the file of `coppice`, in which that would be otherwise.
    { file: join(dist, 'library', 'engine.js'), roots: ['src/core.ts', USUAL_STORE], with_later: true },
    { file: join(dist, 'library', 'start.js'), roots: ['src/coppice.ts'] },
  ]);
  return inputs;
}

interface Joined {
  /** Path of the file, in the folder of the chunks. */
  readonly file: string;
  /** Source files whose chunks, with all that they import, go into the file. */
  readonly roots: readonly string[];
  /** Also chunks that are loaded later. */
  readonly with_later?: boolean;
}

/**
 * Joins the chunks of starts into one file for each, because each file takes time to be found; a chunk goes into the first. Chunks remain as
 * re-exports, for what is loaded later. Chunks of `but` stay as they are.
 */
async function joinChunks(
  root: string,
  outputs: Metafile['outputs'],
  starts: readonly Joined[],
  but: readonly string[] = [],
): Promise<void> {
  const done = new Set(closureOf(but, outputs));
  const bundled = new Set<string>();
  for (const { file, roots, with_later } of starts) {
    const folder = dirname(file);
    const beside = (path: string) => `./${relative(folder, join(root, path))}`;
    const paths = [...closureOf(roots, outputs, with_later)].filter((path) => !done.has(path));
    // Within the file, the names of a chunk have its number before them.
    const joined = paths.map((path, index) => ({
      path,
      names: (outputs[path]?.exports ?? []).map((own) => ({ own, within: `_${index}_${own}` })),
    }));
    for (const path of paths) {
      done.add(path);
      bundled.add(beside(path));
    }
    const later: Plugin = {
      name: 'later',
      setup({ onResolve }) {
        onResolve({ filter: /^\./ }, ({ path, kind }) =>
          kind === 'import-statement' && bundled.has(path) ? undefined : { path, external: true },
        );
      },
    };
    const contents = joined
      .map(({ path, names }) =>
        exported(
          names.map(({ own, within }) => `${own} as ${within}`),
          beside(path),
        ),
      )
      .join('');
    await build({ ...COMMON, stdin: { contents, resolveDir: folder }, outfile: file, plugins: [later] });
    for (const { path, names } of joined) {
      const text = exported(
        names.map(({ own, within }) => `${within} as ${own}`),
        `./${basename(file)}`,
      );
      writeFileSync(join(root, path), text);
    }
  }
}

function exported(names: readonly string[], from: string): string {
  return `export { ${names.join(', ')} } from '${from}';\n`;
}

/** The chunks of these source files and all that they import, relative to the root. Throws if one has no chunk of its own. */
function closureOf(
  sources: readonly string[],
  outputs: Metafile['outputs'],
  with_later = false,
): ReadonlySet<string> {
  const found = new Set<string>();
  const walk = (path: string) => {
    if (found.has(path) || outputs[path] === undefined) return;
    found.add(path);
    for (const one of outputs[path].imports)
      if (one.kind === 'import-statement' || (with_later && one.kind === 'dynamic-import')) walk(one.path);
  };
  const chunks = new Map(Object.entries(outputs).map(([path, { entryPoint }]) => [entryPoint, path]));
  for (const source of sources) {
    const path = chunks.get(source);
    if (path === undefined) throw new Error(`${source} is no longer loaded on its own`);
    walk(path);
  }
  return found;
}

const COMMON = {
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  external: EXTERNAL,
} as const satisfies BuildOptions;

async function bundle(
  root: string,
  dist: string,
  options: BuildOptions,
): Promise<{ readonly inputs: readonly string[]; readonly outputs: Metafile['outputs'] }> {
  const { metafile } = await build({
    ...COMMON,
    absWorkingDir: root,
    outdir: dist,
    splitting: true,
    plugins: [packageImports, plainBuiltIns],
    ...options,
    metafile: true,
  });
  for (const file of Object.keys(metafile.outputs)) finish(join(root, file), dist);
  return { inputs: heldFiles(metafile), outputs: metafile.outputs };
}

/** Copies the files that run before the bundle: every version of Node can run them, and an old one reports which version is needed. */
function copyEntry(src: string, dist: string): void {
  const entry = 'cli/entry/main.cjs';
  const text = readFileSync(join(src, entry), 'utf8');
  mkdirSync(join(dist, 'cli', 'entry'), { recursive: true });
  writeFileSync(join(dist, entry), text.replace("/start.ts'", "/start.js'"), { mode: 0o755 });
  mkdirSync(join(dist, 'settings'), { recursive: true });
  for (const file of ['settings/node-version.cjs', 'settings/cache-folder.cjs'])
    copyFileSync(join(src, file), join(dist, file));
}

const packageImports: Plugin = {
  name: 'package-imports',
  setup({ onLoad }) {
    // The files of threads and processes, and lazy packages, have places of their own in `dist`; the code that uses them is in a folder there.
    onLoad({ filter: /[/\\]src[/\\].*\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      const contents = text
        .replaceAll(/new URL\('\.\/([\w-]+)\.ts', import/g, "new URL('../$1.js', import")
        .replaceAll(/import\.meta\.resolve\('([^']+)'\)/g, (_, name: keyof typeof WASM) => {
          if (WASM[name] === undefined) throw new Error(`${path} reads ${name}, which WASM does not name`);
          return `new URL('../${WASM[name]}', import.meta.url)`;
        })
        .replaceAll(/\bcreateRequire\(import\.meta\.url\)\('([\w-]+)'\)/g, (_, name: string) => {
          if (!LAZY.includes(name)) throw new Error(`${path} loads ${name}, which LAZY does not name`);
          return `createRequire(import.meta.url)('../lazy/${name}.cjs')`;
        });
      return contents === text ? undefined : { contents, loader: 'ts' };
    });
    // The object `z` holds all of zod; with a namespace import, the bundler keeps only the names that are used.
    onLoad({ filter: /[/\\]@ai-sdk[/\\].*\.js$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replaceAll(
        'import { z } from "zod/v4"',
        'import * as z from "zod/v4"',
      ),
      loader: 'js',
    }));
    // grammY's HTTP library recognizes a signal by its class name, which the bundler changes in this polyfill; Node has both classes itself.
    onLoad({ filter: /[/\\]abort-controller[/\\]dist[/\\]abort-controller\.js$/ }, () => ({
      contents: 'module.exports = { AbortController, AbortSignal };',
      loader: 'js',
    }));
    // Only for a Node without `URL`; it loads a module of Node that warns of itself outside of `node_modules`.
    onLoad({ filter: /[/\\]whatwg-url[/\\]lib[/\\]public-api\.js$/ }, () => ({
      contents: 'module.exports = { URL, URLSearchParams };',
      loader: 'js',
    }));
  },
};

/** For a Node before 20.16, which cannot even load the library; a newer one that is too old is told when it opens it. */
const TOO_OLD = `if (!process.getBuiltinModule) throw new Error(\`${nodeTooOld('0')?.replace('v0', '$' + '{process.version}')}\`);`;

/**
 * Loads built-in modules without `import`, which would wrap each in a module of all its properties. Reading all of them loads half of Node
 * (`process.stdin`, `fs.promises`, `crypto.webcrypto`), which takes longer than most commands.
 */
const plainBuiltIns: Plugin = {
  name: 'plain-built-ins',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(?:node:)?[a-z_/]+$/ }, ({ path, kind }) =>
      kind === 'import-statement' && isBuiltin(path) ? { path, namespace: 'built-in' } : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'built-in' }, ({ path }) => {
      const properties = Object.entries(
        Object.getOwnPropertyDescriptors(process.getBuiltinModule(path) as object),
      );
      const names = properties.filter(([name, { get }]) => get === undefined && /^[A-Za-z_]\w*$/.test(name));
      const named = names.map(
        ([name], index) => `const v${index} = m.${name};\nexport { v${index} as ${name} };`,
      );
      return {
        // An old Node lacks some of them.
        contents: `${TOO_OLD}\nconst m = process.getBuiltinModule('${path}') ?? {};\nexport default m;\n${named.join('\n')}`,
        loader: 'js',
      };
    });
  },
};

/** Completes a file that the bundler wrote. Throws if what it starts or loads would not be found. */
function finish(file: string, dist: string): void {
  const text = readFileSync(file, 'utf8');
  if (OUTSIDE.test(text) && dirname(dirname(file)) !== dist)
    throw new Error(`${file} starts or loads a file of ${dist}, so it must be one folder below`);
  if (/^var __require = /m.test(text)) writeFileSync(file, REQUIRE + text);
}
