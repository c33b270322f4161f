import { globSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describeFloors } from './floor-table.ts';
import { checkFloors } from './floors.ts';
import { textRules } from './text-rules.ts';

/** `npm run floors [-- --table]`: checks the house rules on imports, files, names and words. `--table` shows the floors and every allowance. */
const root = join(import.meta.dirname, '..');
const TEXTS = ['{src,test,scripts,bench,examples,docs,.ci}/**', '*.{md,json}', 'LICENSE'];
/** Exempt from the rules on words: files with examples of what is refused, and the lock file. */
const EXEMPT = new Set(['scripts/text-rules.ts', 'test/house/text-rules.test.ts', 'package-lock.json']);

if (process.argv.includes('--table')) console.log(describeFloors());
const src = join(root, 'src');
const sources = [
  ...new Set(globSync('**/*.{ts,cjs}', { cwd: src }).map((file) => realpathSync(join(src, file)))),
];
const texts = globSync(TEXTS, { cwd: root }).filter(
  (file) => !EXEMPT.has(file) && statSync(join(root, file)).isFile(),
);
const problems = [
  ...checkFloors(src, sources),
  ...texts.flatMap((file) => textRules(join(root, file), readFileSync(join(root, file), 'utf8'))),
];
for (const { file, line, message } of problems) console.error(`${relative(root, file)}:${line}: ${message}`);
const count = `${problems.length} problem${problems.length === 1 ? '' : 's'}`;
console.log(`floors: ${sources.length} source files, ${texts.length} texts, ${count}`);
if (sources.length === 0) console.error(`no source file below ${src}: nothing was checked`);
process.exitCode = problems.length === 0 && sources.length > 0 ? 0 : 1;
