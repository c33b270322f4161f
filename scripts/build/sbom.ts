import { hash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageFolders } from './held-files.ts';

/** Name of the file in `dist`. */
export const SBOM = 'coppice.cdx.json';

interface Package {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

interface Lock {
  readonly packages: Readonly<Record<string, Locked>>;
}

interface Locked {
  readonly version: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/**
 * Writes the bill of materials of the package (CycloneDX 1.7): the packages whose code is in each part of `dist`, and those that are installed beside it.
 * The same sources give the same file. Throws if a package is not in the lock file or names no licence.
 */
export function sbom(root: string, dist: string, parts: Readonly<Record<string, readonly string[]>>): void {
  const read = <T>(...path: readonly string[]) => JSON.parse(readFileSync(join(root, ...path), 'utf8')) as T;
  const own = read<Package>('package.json');
  const { packages } = read<Lock>('package-lock.json');
  const found = new Map<string, { readonly places: string[]; readonly optional: boolean }>();
  const note = (folder: string, place: string, optional = false) => {
    const before = found.get(folder);
    if (before === undefined) found.set(folder, { places: [place], optional });
    else if (!before.places.includes(place)) before.places.push(place);
  };
  for (const [part, files] of Object.entries(parts))
    for (const folder of packageFolders(files)) note(folder, `bundled in the ${part}`);
  const install = (folder: string, optional: boolean) => {
    if (found.get(folder)?.places.includes('installed')) return;
    note(folder, 'installed', optional);
    const { dependencies = {}, optionalDependencies = {} } = packages[folder] ?? {};
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies }))
      install(placeOf(name, folder, packages), optional || name in optionalDependencies);
  };
  for (const name of Object.keys(own.dependencies ?? {})) install(placeOf(name, '', packages), false);
  const components = [...found].map(([folder, { places, optional }]) => {
    const locked = packages[folder];
    if (locked?.license === undefined || locked.integrity === undefined)
      throw new Error(`${folder}: its licence or hash is not in package-lock.json`);
    const name = folder.replace(/^.*node_modules\//, '');
    return {
      ...identity(name, locked.version, locked.license),
      scope: optional ? 'optional' : 'required',
      hashes: [hashOf(locked.integrity)],
      properties: places.map((value) => ({ name: 'coppice:place', value })),
    };
  });
  components.sort((one, other) => (one.purl < other.purl ? -1 : 1));
  const itself = { ...identity(own.name, own.version, own.license ?? ''), type: 'application' };
  const dependencies = [{ ref: itself['bom-ref'], dependsOn: components.map((one) => one['bom-ref']) }];
  const content = {
    metadata: { lifecycles: [{ phase: 'build' }], component: itself },
    components,
    dependencies,
  };
  const document = {
    $schema: 'http://cyclonedx.org/schema/bom-1.7.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.7',
    serialNumber: `urn:uuid:${uuidOf(JSON.stringify(content))}`,
    version: 1,
    ...content,
  };
  writeFileSync(join(dist, SBOM), `${JSON.stringify(document, null, 1)}\n`);
}

function identity(name: string, version: string, license: string) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  return {
    type: 'library',
    'bom-ref': purl,
    name,
    version,
    // A name of the SPDX list, or an expression of several.
    licenses: [/^[\w.-]+$/.test(license) ? { license: { id: license } } : { expression: license }],
    purl,
  };
}

/** The folder in which a package that another one needs was installed. */
function placeOf(name: string, from: string, packages: Lock['packages']): string {
  for (let folder = from; ; folder = folder.replace(/(?:^|\/)node_modules\/(?:@[^/]+\/)?[^/]+$/, '')) {
    const place = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    if (place in packages) return place;
    if (folder === '') throw new Error(`${name}, which ${from} needs, is not in package-lock.json`);
  }
}

/** From the form of the lock file, `sha512-BASE64`. */
function hashOf(integrity: string): { readonly alg: string; readonly content: string } {
  const [, bits, base64 = ''] = /^sha(\d+)-(\S+)/.exec(integrity) ?? [];
  return { alg: `SHA-${bits}`, content: Buffer.from(base64, 'base64').toString('hex') };
}

/** A uuid of version 8 that follows from the text. */
function uuidOf(text: string): string {
  const hex = hash('sha256', text);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
