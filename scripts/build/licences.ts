import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageFolders } from './held-files.ts';

/** Writes the bundled packages with their licence texts to `dist/third-party-licences.txt`. Throws if a package names no licence. */
export function licences(root: string, dist: string, inputs: readonly string[]): void {
  const parts = packageFolders(inputs).map((folder) => licenceOf(join(root, folder)));
  mkdirSync(dist, { recursive: true });
  writeFileSync(
    join(dist, 'third-party-licences.txt'),
    `The files of this folder hold code of these packages.\n\n${parts.join('\n')}`,
  );
}

function licenceOf(folder: string): string {
  const { name, version, license, author } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  ) as {
    readonly name: string;
    readonly version: string;
    readonly license?: string;
    readonly author?: string | { readonly name: string };
  };
  if (license === undefined) throw new Error(`${name} names no licence`);
  const by = typeof author === 'string' ? author : author?.name;
  const texts = readdirSync(folder)
    .filter((file) => /^(?:licen[cs]e|notice|copying)/i.test(file))
    .sort()
    .map((file) => readFileSync(join(folder, file), 'utf8').trim());
  return `${'-'.repeat(80)}\n${name} ${version}: ${license}\n\n${texts.join('\n\n') || `Copyright: ${by ?? `the authors of ${name}`}. The package holds no text of its licence.`}\n`;
}
