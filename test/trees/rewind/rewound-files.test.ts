// Proves that a person who takes a tree back is shown what `write` changed since, and gets it back on request only where nobody else has touched it; what commands
// did is named and stays.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, it } from 'node:test';
import type { FileChange } from '../../../src/store/read-records.ts';
import { hashBytes } from '../../../src/tools/files/file-hash.ts';
import { createBuiltInTools } from '../../../src/tools/tool-registry.ts';
import { restorationsOf } from '../../../src/trees/rewind/file-restoration.ts';
import { rewindTree } from '../../../src/trees/rewind/rewind-tree.ts';
import { closeOpened } from '../../close-opened.ts';
import { setStage } from '../../runtime/stage.ts';

afterEach(closeOpened);

it('files go back with the tree, if one likes', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'coppice-rewound-'));
  const path = (name: string) => join(cwd, name);
  writeFileSync(path('a'), 'one\n');
  writeFileSync(path('b'), 'one\n');
  const write = (name: string, content: string) => ['write', { path: name, content }] as const;
  const stage = await setStage(
    ({ step }) => {
      if (step === 0)
        return [
          ['read', { path: 'a' }],
          ['read', { path: 'b' }],
        ];
      if (step === 1) return [write('a', 'two\n'), write('b', 'two\n'), write('c', 'new\n')];
      return step === 2 ? [['bash', { command: 'echo x > d' }]] : 'done';
    },
    { tools: createBuiltInTools(), config: { cwd } },
  );
  const { root } = await stage.perform();
  writeFileSync(path('b'), 'of a person\n');
  const back = (order: object) =>
    rewindTree(stage.store, root, { to: '4', ...order }, randomUUID(), tmpdir());
  const plan = await back({ dry_run: true, files: true });
  const names = (files: typeof plan.files) => files.map((one) => [one.path.slice(-1), one.restored]);
  assert.deepEqual(names(plan.files), [
    ['c', false],
    ['a', false],
  ]);
  assert.match(plan.difference.join('\n'), /-two\n\+one/);
  assert.match(
    plan.not_undone.join('\n'),
    /^b stays as it is: it was changed since.*\nwhat a command changed is not known/,
  );
  assert.deepEqual(names((await back({})).files), [
    ['c', false],
    ['a', false],
  ]);
  assert.equal(readFileSync(path('a'), 'utf8'), 'two\n');
  assert.deepEqual(names((await back({ files: true })).files), [
    ['c', true],
    ['a', true],
  ]);
  assert.equal(readFileSync(path('a'), 'utf8'), 'one\n');
  assert.equal(readFileSync(path('b'), 'utf8'), 'of a person\n');
  assert.throws(() => readFileSync(path('c')));
  rmSync(cwd, { recursive: true, force: true });
});

it('of two changes between which somebody else wrote, only the second is taken back', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'coppice-rewound-'));
  try {
    const path = join(cwd, 'a');
    writeFileSync(path, 'two\n');
    const changeOf = (seq: number, base: string, text: string) =>
      ({
        ...{ agent_id: 'a', agent_name: 'a', root_id: 'a', seq, at: seq, answer: null },
        result: { file: { path, hash: hashBytes(text), before: hashBytes(base), base } },
      }) as unknown as FileChange;
    for (const [between, restored] of [
      ['of a person\n', 'of a person\n'],
      ['one\n', 'zero\n'],
    ] as const) {
      const changes = [changeOf(2, between, 'two\n'), changeOf(1, 'zero\n', 'one\n')];
      const own = [1, 2].map((seq) => ({ agent_id: 'a', seq }));
      const { files, left } = await restorationsOf(
        { fileChanges: async () => changes },
        cwd,
        new Map([[path, own]]),
      );
      assert.deepEqual([files.map(({ text }) => text), left], [[restored], []], between);
    }
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
});
