import type { Metafile } from 'esbuild';

/** The source files of which the bundler put something into its output, relative to the root. */
export function heldFiles({ outputs }: Pick<Metafile, 'outputs'>): readonly string[] {
  const held = Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? [file] : [])),
  );
  return [...new Set(held)];
}

/** The folders of the packages to which the files belong, relative to the root, wherever its `node_modules` leads. */
export function packageFolders(files: readonly string[]): readonly string[] {
  const folders = files.flatMap(
    (file) => /node_modules\/(?:.*node_modules\/)?(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? [],
  );
  return [...new Set(folders)].sort();
}
