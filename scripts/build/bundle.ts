import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';

/** Not in the bundle: packages with binaries, and optional dependencies of packages. */
const EXTERNAL = ['sharp', '@vscode/ripgrep', 'pg-native', 'canvas'];

/** Prelude for CommonJS packages that require built-in modules; only one chunk has it. */
const REQUIRE = `import { createRequire as createRequireOf } from 'node:module';
const require = createRequireOf(import.meta.url);
`;

/** Bundles the program into `dist`; returns every source file that went in, relative to `root`. */
export async function bundle(root: string, dist: string): Promise<readonly string[]> {
  const program = await build({
    absWorkingDir: root,
    bundle: true,
    platform: 'node',
    target: 'node24',
    metafile: true,
    entryPoints: {
      coppice: 'src/coppice.ts',
      'cli/start/start': 'src/cli/start/start.ts',
      'page-worker': 'src/tools/web/page-worker.ts',
      'launcher-program': 'src/processes/starting/launcher-program.ts',
    },
    outdir: dist,
    format: 'esm',
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    external: EXTERNAL,
    plugins: [packageImports, plainBuiltIns],
  });
  for (const file of Object.keys(program.metafile.outputs)) giveRequire(join(root, file));
  copyEntry(join(root, 'src'), dist);
  return Object.keys(program.metafile.inputs);
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

/** Packages that are loaded lazily and synchronously: Node needs `createRequire` for them, the bundler `require`. */
const packageImports: Plugin = {
  name: 'package-imports',
  setup({ onLoad }) {
    onLoad({ filter: /[/\\]src[/\\].*\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      // A thread or process has an entry file of its own; the code that starts it is in a chunk, one folder below.
      const starts = text.replaceAll(/new URL\('\.\/([\w-]+)\.ts', import/g, "new URL('../$1.js', import");
      const contents = starts.replaceAll(/\bcreateRequire\(import\.meta\.url\)(?=\('[\w-]+'\))/g, 'require');
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

function giveRequire(file: string): void {
  const text = readFileSync(file, 'utf8');
  if (/^var __require = /m.test(text)) writeFileSync(file, REQUIRE + text);
}
