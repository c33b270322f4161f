// Proves that what a person accepted of a folder is kept once per folder, newest last, whichever path names it, and that taking it back holds.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { Trust } from '../../../src/permissions/grants/trust.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

function place() {
  const folder = temporaryFolder();
  const [first, second] = ['first', 'second'].map((name) => join(folder, name)) as [string, string];
  for (const path of [first, second]) mkdirSync(path);
  const file = join(folder, 'trust.json');
  const kept = () => Object.keys(JSON.parse(readFileSync(file, 'utf8')).folders);
  return { folder, first, second, file, kept, trust: new Trust(folder) };
}

it('what is accepted again is newest again, and not the one that goes when there are too many', () => {
  const { first, second, file, kept, trust } = place();
  const trusted_at = new Date(0).toISOString();
  const others = Array.from({ length: 999 }, (_, at) => [`/nowhere/${at}`, { hash: 'x', trusted_at }]);
  const folders = Object.fromEntries([[first, { hash: 'old', trusted_at }], ...others]);
  writeFileSync(file, JSON.stringify({ schema: 'coppice/trust/v1', folders }));
  trust.accept(first, 'new', 1);
  trust.accept(second, 'own', 2);
  assert.deepEqual([trust.stateOf(first, 'new'), trust.stateOf(second, 'own')], ['trusted', 'trusted']);
  assert.deepEqual([kept().length, kept()[0], kept().slice(-2)], [1_000, '/nowhere/1', [first, second]]);
});

it('two paths of one folder are one entry, which is taken back once', () => {
  const { folder, first, second, kept, trust } = place();
  const link = join(folder, 'link');
  symlinkSync(first, link);
  for (const path of [first, link, second]) trust.accept(path, `of ${path}`, 1);
  assert.deepEqual(kept(), [first, second]);
  assert.equal(trust.stateOf(first, `of ${link}`), 'trusted');
  assert.deepEqual([trust.revoke(link), trust.revoke(first), trust.of(link)], [true, false, null]);
  assert.deepEqual(kept(), [second]);
});
