import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { type BuildOptions, build, type Plugin } from 'esbuild';

/** Not in the bundle: packages with binaries, and optional dependencies of packages. */
const EXTERNAL = ['sharp', '@vscode/ripgrep', 'pg-native', 'canvas'];

/** Packages that the code loads at their first use, synchronously; each has a file of its own, so that a start does not read it. */
const LAZY = ['re2js', 'string-width', 'unbash'];

/** Paths that hold only for code one folder below `dist`. */
const OUTSIDE = /new URL\(["']\.\.\/[\w-]+\.js["'], import|\(["']\.\.\/lazy\//;

/** Prelude for CommonJS packages that require built-in modules; only one chunk has it. */
const REQUIRE = `import { createRequire as createRequireOf } from 'node:module';
const require = createRequireOf(import.meta.url);
`;

/** Bundles the command line and what it starts into `dist`; returns every source file that went in, relative to `root`. */
export async function bundleProgram(root: string, dist: string): Promise<readonly string[]> {
  copyEntry(join(root, 'src'), dist);
  const lazy = await bundle(root, dist, {
    entryPoints: Object.fromEntries(LAZY.map((name) => [`lazy/${name}`, name])),
    outExtension: { '.js': '.cjs' },
    format: 'cjs',
    splitting: false,
  });
  const program = await bundle(root, dist, {
    entryPoints: {
      'cli/start/start': 'src/cli/start/start.ts',
      'page-worker': 'src/tools/web/page-worker.ts',
      'launcher-program': 'src/processes/starting/launcher-program.ts',
    },
    chunkNames: 'chunks/[name]-[hash]',
  });
  return [...lazy, ...program];
}

/**
 * Bundles the library into `dist/library`; returns every source file that went in, relative to `root`. It shares no chunk with the command line, which
 * is split so that each command loads little (docs/decisions/0018-a-bundled-package.md), but it starts and loads the same files of `dist`, which
 * `bundleProgram` writes.
 */
export function bundleLibrary(root: string, dist: string): Promise<readonly string[]> {
  const entryPoints = { 'library/coppice': 'src/coppice.ts' };
  return bundle(root, dist, { entryPoints, chunkNames: 'library/chunk-[hash]' });
}

async function bundle(root: string, dist: string, options: BuildOptions): Promise<readonly string[]> {
  const { metafile } = await build({
    absWorkingDir: root,
    bundle: true,
    platform: 'node',
    target: 'node24',
    outdir: dist,
    format: 'esm',
    splitting: true,
    external: EXTERNAL,
    plugins: [packageImports, plainBuiltIns],
    ...options,
    metafile: true,
  });
  for (const file of Object.keys(metafile.outputs)) finish(join(root, file), dist);
  return Object.keys(metafile.inputs);
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
  },
};

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
        contents: `const m = process.getBuiltinModule('${path}');\nexport default m;\n${named.join('\n')}`,
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
