// Proves that test files that share a process stay separate: each is a suite with its own hooks, one that cannot be loaded or fails late fails the
// run, and a file that asks for its own process gets one.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { groupFiles } from '../../scripts/test-groups.ts';

const root = mkdtempSync(join(tmpdir(), 'coppice groups ä-'));
const folder = join(root, 'groups');
mkdirSync(join(root, 'test', 'one'), { recursive: true });
mkdirSync(folder);
after(() => rmSync(root, { recursive: true, force: true }));
writeFileSync(join(root, 'package.json'), '{"type":"module"}');

const COUNTED = `
import { beforeEach, it } from 'node:test';
import assert from 'node:assert/strict';
let times = 0;
beforeEach(() => { times += 1; });
it('is first', () => assert.equal(times, 1));
it('is second', () => assert.equal(times, 2));`;

function outcome(files: Readonly<Record<string, string>>) {
  for (const [name, body] of Object.entries(files)) writeFileSync(join(root, 'test', 'one', name), body);
  const names = Object.keys(files).map((name) => join('test', 'one', name));
  const modules = groupFiles(root, names, folder);
  const { NODE_TEST_CONTEXT: _, COPPICE_TEST_FILE: __, ...env } = process.env;
  const ended = spawnSync(process.execPath, ['--test', '--test-reporter=spec', ...modules], {
    encoding: 'utf8',
    cwd: root,
    env,
  });
  return { modules, status: ended.status, said: ended.stdout + ended.stderr };
}

it('the hooks of a file are for its own tests, and its path is the name of its suite', () => {
  const { modules, status, said } = outcome({ 'a.test.ts': COUNTED, 'b.test.ts': COUNTED });
  assert.equal(modules.length, 1);
  assert.equal(status, 0, said);
  assert.match(said, /✔ test\/one\/b\.test\.ts/);
  assert.match(said, /tests 4\b/);
});

it('a file that cannot be loaded fails, and the others are run', () => {
  const { status, said } = outcome({ 'a.test.ts': `import './nowhere.ts';`, 'b.test.ts': COUNTED });
  assert.equal(status, 1);
  assert.match(said, /✖ test\/one\/a\.test\.ts/);
  assert.match(said, /pass 2\b/);
});

it('an error that comes after the tests of a file, while those of another run, fails the run', () => {
  const late = `import { it } from 'node:test';
    it('ends', () => { setTimeout(() => { throw new Error('too late'); }, 20); });`;
  const slow = `import { it } from 'node:test';
    it('goes on', () => new Promise((resolve) => setTimeout(resolve, 300)));`;
  const { status, said } = outcome({ 'a.test.ts': late, 'b.test.ts': slow });
  assert.equal(status, 1);
  assert.match(said, /too late/);
});

it('a file that says why gets a process of its own', () => {
  const alone = `// Own process: it says so.\n${COUNTED}`;
  const { modules, status, said } = outcome({
    'a.test.ts': alone,
    'b.test.ts': COUNTED,
    'c.test.ts': COUNTED,
  });
  assert.equal(status, 0, said);
  assert.deepEqual(modules.slice(1), [join('test', 'one', 'a.test.ts')]);
  assert.doesNotMatch(readFileSync(modules[0] ?? '', 'utf8'), /a\.test\.ts/);
});

it('what takes longest begins first: the runner takes files by name', () => {
  const names = ['api', 'cli', 'crash', 'runtime'].flatMap((room) =>
    ['a', 'b'].map((name) => {
      mkdirSync(join(root, 'test', room), { recursive: true });
      writeFileSync(join(root, 'test', room, `${name}.test.ts`), COUNTED);
      return join('test', room, `${name}.test.ts`);
    }),
  );
  const begin = groupFiles(root, names, folder).toSorted();
  assert.deepEqual(
    begin.map((module) => /test-([a-z]+)-1/.exec(module)?.[1]),
    ['runtime', 'crash', 'cli', 'api'],
  );
});
