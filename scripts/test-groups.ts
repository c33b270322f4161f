import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Maximum files of one process. More would share what they leave in memory; fewer would load the sources more often. */
const LARGEST_GROUP = 30;
/** Folders whose tests take longest; they start first, so that none of them runs alone at the end. */
const LONGEST = [
  'mcp',
  'runtime',
  'sim',
  'tools',
  'crash',
  'tui',
  'cli',
  'serve',
  'store',
  'acp',
  'models',
  'processes',
].map((room) => `test-${room}`);
/** Line that marks a test file which needs a process of its own, with the reason. */
const ALONE = /^\/\/ Own process: \S/m;

/**
 * Returns the files to pass to Node's runner for these files (relative to `root`). Most of them run in groups, one process each, with a suite for
 * each file, because loading the sources costs more than the tests of a small file. Writes the groups' modules into `folder`.
 */
export function groupFiles(root: string, files: readonly string[], folder: string): string[] {
  const alone = files.filter((file) => ALONE.test(readFileSync(join(root, file), 'utf8')));
  const rooms = Map.groupBy(
    files.filter((file) => !alone.includes(file)),
    (file) => file.split(/[\\/]/).slice(0, 2).join('-'),
  );
  const groups = [...rooms].flatMap(([room, members]) =>
    evenParts(members).map((part, index) => {
      const [only] = part;
      if (part.length === 1 && only !== undefined) return only;
      const path = join(folder, `${String(place(room)).padStart(2, '0')}-${room}-${index + 1}.test.mjs`);
      writeFileSync(path, groupModule(root, part));
      return path;
    }),
  );
  return [...groups, ...alone];
}

/** Number that a group's file name begins with; the runner takes files in the order of their names. */
function place(room: string): number {
  const found = LONGEST.indexOf(room);
  return found === -1 ? LONGEST.length : found;
}

function evenParts(files: readonly string[]): string[][] {
  const parts = Math.ceil(files.length / LARGEST_GROUP);
  return Array.from({ length: parts }, (_, part) => files.filter((_file, index) => index % parts === part));
}

/** Uses `require`, not `import`: tests that are loaded within a suite's function are registered in that suite. */
function groupModule(root: string, files: readonly string[]): string {
  const suites = files.map(
    (file) => `describe(${JSON.stringify(file)}, () => void require(${JSON.stringify(join(root, file))}));`,
  );
  const from = JSON.stringify(pathToFileURL(join(root, 'scripts', 'test.ts')).href);
  return [
    "import { createRequire } from 'node:module';",
    "import { describe } from 'node:test';",
    `const require = createRequire(${from});`,
    ...suites,
    '',
  ].join('\n');
}
