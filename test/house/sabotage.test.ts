// Proves that the list of sabotage tells of the program as it is: each guard's piece of source stands in its file exactly once, the tests that
// it names are there, a guard that moved is reported instead of passed over, and a program that only broke is not taken for one that was found wrong.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { it } from 'node:test';
import { ALL_GUARDS } from '../../scripts/sabotage/all-guards.ts';
import { sabotageTable } from '../../scripts/sabotage/sabotage-table.ts';
import type { TestEvent } from '../../scripts/sabotage/test-event.ts';
import testLines from '../../scripts/sabotage/test-lines.ts';
import { withoutGuard } from '../../scripts/sabotage/without-guard.ts';

const root = join(import.meta.dirname, '..', '..');

it('every guard is found once, and taking it out changes its file', () => {
  for (const guard of ALL_GUARDS) {
    const source = readFileSync(join(root, guard.file), 'utf8');
    assert.notEqual(withoutGuard(source, guard), source, guard.name);
  }
});

it('no two guards have one name, and there are enough of them', () => {
  const names = ALL_GUARDS.map(({ name }) => name);
  assert.deepEqual([...new Set(names)], names);
  for (const name of names) assert.match(name, /^[a-z]+(-[a-z]+)*$/);
  assert.ok(names.length >= 22);
  assert.ok(ALL_GUARDS.filter(({ file }) => file.includes('/postgres/')).length >= 5);
});

it('every filter of every guard finds a test', () => {
  const files = globSync('test/**/*.test.ts', { cwd: root });
  for (const { name, tests } of ALL_GUARDS) {
    assert.ok(tests.length > 0, name);
    for (const filter of tests)
      assert.ok(
        files.some((file) => file.includes(filter)),
        `${name}: ${filter}`,
      );
  }
});

it('a guard that is not there any more, or is there twice, is reported', () => {
  const guard = { name: 'lock', protects: '', file: 'src/door.ts', guard: 'lock();', without: '', tests: [] };
  assert.equal(withoutGuard('shut(); lock();', guard), 'shut(); ');
  assert.throws(() => withoutGuard('shut(); bolt();', guard), /guard not found: lock: src\/door\.ts/);
  assert.throws(() => withoutGuard('lock(); lock();', guard), /guard not clear: lock: .* 2 times/);
});

it('the page has the table of these guards', () => {
  const page = readFileSync(join(root, 'docs/sabotage.md'), 'utf8');
  const told = [...page.matchAll(/^\| ([a-z]+(?:-[a-z]+)*) +\|/gm)].flatMap(([, name]) => name ?? []);
  assert.deepEqual(
    told.filter((name) => name !== 'guard'),
    ALL_GUARDS.map(({ name }) => name),
  );
});

it('a table has even columns and no bar in its cells', () => {
  const row = { name: 'a', protects: 'x | y', caught: true, caught_by: 'z', seconds: 1.5 };
  assert.deepEqual(sabotageTable([row]).split('\n'), [
    '| guard | protects | caught by | seconds |',
    '| ----- | -------- | --------- | ------- |',
    '| a     | x \\| y   | z         | 1.5     |',
  ]);
});

it('red counts where a test found the program wrong, not where the program broke', async () => {
  const assertion = Object.assign(new Error('1 !== 2'), { code: 'ERR_ASSERTION' });
  const failures = [
    ['asserts', 'testCodeFailure', assertion],
    [
      'asserts in a property',
      'testCodeFailure',
      new Error('Property failed after 3 tests', { cause: assertion }),
    ],
    ['waits in vain', 'testCodeFailure', new Error('it never came to this: the end')],
    ['takes too long', 'testTimeoutFailure', 'test timed out after 5ms'],
    ['throws', 'testCodeFailure', new TypeError('x is not a function')],
    ['hook', 'hookFailed', new Error('no server')],
    ['process', 'uncaughtException', assertion],
  ] as const;
  const events = failures.map(([name, failureType, cause]) => ({
    type: 'test:fail',
    data: { name, file: '/x.test.ts', details: { type: 'test', error: { failureType, cause } } },
  }));
  const suite = {
    name: 'suite',
    file: '/x.test.ts',
    details: { type: 'suite', error: { failureType: 'subtestsFailed' } },
  };
  const told: TestEvent[] = [];
  const source = Readable.from([
    ...events,
    { type: 'test:fail', data: suite },
    { type: 'test:stdout', data: suite },
  ]);
  for await (const line of testLines(source)) told.push(JSON.parse(line) as TestEvent);
  assert.deepEqual(
    told.map(({ name, failure }) => [name, failure]),
    failures.map(([name], place) => [name, place < 4 ? 'verdict' : 'crash']),
  );
});
