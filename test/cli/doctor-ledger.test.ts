// Proves that `coppice doctor` finds damaged pages of the ledger, of every kind, says so and what to do, changes nothing, and warns root.
import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { before, it } from 'node:test';
import { openStore } from '../../src/store/open-store.ts';
import { makeHome } from './run-cli.ts';

const home = makeHome();
const whole = join(home.folder, 'whole.db');
const PAGE = 4096;
let [table, index, unused] = [0, 0, 0];

before(async () => {
  await (await openStore(whole)).close();
  const database = new DatabaseSync(whole);
  database.exec(`CREATE TABLE rows (number INTEGER PRIMARY KEY, text TEXT); CREATE INDEX by_text ON rows (text);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) INSERT INTO rows SELECT i, printf('%0100d', i) FROM n;
    DELETE FROM rows WHERE number > 1000; PRAGMA journal_mode = DELETE;`);
  const leaf = (name: string) =>
    (
      database
        .prepare("SELECT max(pageno) AS n FROM dbstat WHERE name = ? AND pagetype = 'leaf'")
        .get(name) as { n: number }
    ).n;
  table = leaf('rows');
  index = leaf('by_text');
  database.close();
  // The first page of the list of unused ones.
  unused = readFileSync(whole).readUInt32BE(32);
  assert.ok(table > 0 && index > 0 && unused > 0);
});

/** Runs doctor on a copy of the ledger whose bytes were changed; returns its line on the database. */
async function lineOf(
  damage: (bytes: Buffer) => void,
): Promise<{ line: string; last: string; file: string }> {
  const file = join(home.folder, 'ledger.db');
  copyFileSync(whole, file);
  const bytes = readFileSync(file);
  damage(bytes);
  writeFileSync(file, bytes);
  const { code, stdout } = await home.run(['doctor', '--database', file], {
    env: { OLLAMA_HOST: 'http://127.0.0.1:1' },
  });
  assert.equal(code, 1);
  const lines = stdout.trimEnd().split('\n');
  return { line: lines.find((one) => / database /.test(one)) ?? '', last: lines.at(-1) ?? '', file };
}

it('a whole ledger is undamaged', async () => {
  const { line, last, file } = await lineOf(() => undefined);
  assert.equal(line, `ok       database       sqlite at ${file}, undamaged`);
  assert.equal(last, 'Needed, but missing: model.');
});

const damages: readonly (readonly [string, () => number, (page: Buffer) => void])[] = [
  ['a page of a table that was overwritten', () => table, (page) => page.fill(0x5a)],
  ['a page of a table that was lost', () => table, (page) => page.fill(0)],
  ['a page of an index that was overwritten', () => index, (page) => page.fill(0x5a)],
  // Well-formed, but one key differs from its row.
  ['an index that differs from its table', () => index, (page) => page.writeUInt8(0x39, PAGE - 20)],
  ['the list of unused pages', () => unused, (page) => page.fill(0xff)],
];

for (const [what, number, damage] of damages)
  it(`${what} is found, with what to do`, async () => {
    const { line, last, file } = await lineOf((bytes) =>
      damage(bytes.subarray((number() - 1) * PAGE, number() * PAGE)),
    );
    assert.match(
      line,
      /^missing +database +sqlite at \S+ is damaged \(.+\): stop all that use it, then restore a backup/,
    );
    assert.ok(line.includes(`sqlite3 ${file} .recover`), line);
    assert.equal(last, 'Needed, but missing: database, model.');
  });

it('a ledger that is too large to be read says so, and how to do it', async () => {
  const file = join(home.folder, 'large.db');
  copyFileSync(whole, file);
  // Sparse: takes no room on the disk.
  truncateSync(file, 5_000_000_000);
  const { stdout } = await home.run(['doctor', '--database', file]);
  assert.match(
    stdout,
    /^ok +database +sqlite at \S+; not looked for damage, because it is large: sqlite3 \S+ "PRAGMA quick_check"$/m,
  );
});

it('root is warned, and nobody else', async () => {
  const { stdout } = await home.run(['doctor']);
  assert.match(stdout, process.getuid?.() === 0 ? /^– +user +you are root: /m : /^ok +user +not root$/m);
});
