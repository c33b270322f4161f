import { globSync } from 'node:fs';
import { join, relative } from 'node:path';
import { checkFloors } from './floors.ts';

/** `npm run floors`: the house rules on imports, files and names; see docs/architecture.md. */
const root = join(import.meta.dirname, '..');
const src = join(root, 'src');
const files = globSync('**/*.ts', { cwd: src }).map((file) => join(src, file));
const problems = checkFloors(src, files);
for (const { file, line, message } of problems) console.error(`${relative(root, file)}:${line}: ${message}`);
console.log(`floors: ${files.length} files, ${problems.length} problem${problems.length === 1 ? '' : 's'}`);
process.exit(problems.length === 0 ? 0 : 1);
