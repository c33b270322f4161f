import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withMarkedBlocks } from './marked-blocks.ts';
import { GENERATED, GENERATED_FILES } from './references/generated.ts';

/** `npm run references`: rewrites the parts of docs/ that are generated from the sources. test/house/references.test.ts finds stale ones. */
const root = join(import.meta.dirname, '..');
for (const [document, blocks] of Object.entries(GENERATED)) {
  const file = join(root, document);
  writeFileSync(file, withMarkedBlocks(readFileSync(file, 'utf8'), new Map(Object.entries(blocks()))));
}
for (const [file, content] of Object.entries(GENERATED_FILES)) writeFileSync(join(root, file), content());
