import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, stop } from 'esbuild';

/** The parts of a component in the bill of materials that tests read. */
export interface Component {
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses: readonly { readonly license?: { readonly id: string }; readonly expression?: string }[];
  readonly hashes: readonly { readonly content: string }[];
  readonly properties: readonly { readonly value: string }[];
}

/** Entries of package-lock.json by folder. */
export type Locked = Readonly<Record<string, { version: string; license?: string; integrity?: string }>>;

/** The packages that the bundler, without our settings, would read for these programs, and those of which it would put something into them. */
export async function packagesOf(root: string, entryPoints: readonly string[]) {
  const { metafile } = await build({
    entryPoints: [...entryPoints],
    absWorkingDir: root,
    outdir: 'nowhere',
    write: false,
    bundle: true,
    metafile: true,
    platform: 'node',
    format: 'esm',
    external: ['sharp', '@vscode/ripgrep', 'pg-native', 'canvas', '*.css'],
    jsxImportSource: 'preact',
    jsx: 'automatic',
    logLevel: 'silent',
  });
  await stop();
  const namesOf = (files: readonly string[]) => {
    const folders = files.flatMap((file) => /.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []);
    return new Set([...new Set(folders)].map((folder) => nameIn(join(root, folder))));
  };
  const held = Object.values(metafile.outputs).flatMap(({ inputs }) =>
    Object.keys(inputs).filter((file) => (inputs[file]?.bytesInOutput ?? 0) > 0),
  );
  return { held: namesOf(held), read: namesOf(Object.keys(metafile.inputs)) };
}

/** `NAME@VERSION` */
function nameIn(folder: string): string {
  const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return `${name}@${version}`;
}
