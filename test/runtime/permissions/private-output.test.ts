/** Proves that spilled output is a tree's own: another tree reads, searches and looks at none of it, even where its folder holds that of all; and that its size is bounded, by tree and in all. */
import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, it } from 'node:test';
import { isForeignOutput } from '../../../src/permissions/path-guard.ts';
import { SpillFile } from '../../../src/processes/spill-file.ts';
import { removeSpilledOutput } from '../../../src/processes/spill-folder.ts';
import { TOOL_LIMITS } from '../../../src/processes/tool-limits.ts';
import type { Agent } from '../../../src/records/agent/agent.ts';
import { createModelHost } from '../../../src/runtime/performing/agent-program-host.ts';
import { resolveNeed } from '../../../src/runtime/performing/resolve-need.ts';
import { createBuiltInTools } from '../../../src/tools/tool-registry.ts';
import { closeOpened } from '../../close-opened.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { makeFolder } from '../project-folder.ts';
import { setStage } from '../stage.ts';

afterEach(closeOpened);

const NONE = { allow: [], ask: [], deny: [] };

/** A sparse file of this size. */
function fill(file: string, bytes: number): void {
  writeFileSync(file, '');
  truncateSync(file, bytes);
}

it('a tree reads its own spilled output and no other', async (t) => {
  const files: string[] = [];
  const named = /is in (\S+) /;
  const on = await setStage(
    ({ step, last }) => {
      if (step === 0) return [['bash', { command: 'seq 1 30000' }]];
      const file = files[0] ?? named.exec(last.at(-1)?.output ?? '')?.[1] ?? '';
      if (step === 1 && files.length === 0) files.push(file);
      if (step === 1)
        return [
          ['read', { path: file, offset: 30_000 }],
          ['search', { pattern: '^29999$', path: file }],
          ['search', { pattern: '^29999$' }],
        ];
      return 'done';
    },
    { tools: createBuiltInTools() },
  );
  t.after(() => on.close());
  const first = (await on.results((await on.perform()).root)).slice(1);
  assert.equal(first[0]?.output, '30000\t30000');
  assert.equal(first[0]?.status, 'ok');
  // The folder of these trees holds the folder of all output.
  const second = (await on.results((await on.perform()).root)).slice(1);
  for (const { output } of second.slice(0, 2)) assert.match(output, /output of another conversation/);
  assert.equal(second[2]?.output.includes(files[0]!.split('/').at(-1)!), false);
  assert.equal(statSync(files[0]!).mode & 0o777, 0o600);
});

it('it is a tree’s own by whatever way its folder is reached', () => {
  const base = makeFolder({ 'real/own/a': '', 'real/own-too/b': '', 'work/c': '' });
  symlinkSync('real', join(base, 'link'));
  const foreign = ['real/own/a', 'real/own', 'real/own-too/b', 'real', 'work/c'].filter((path) =>
    isForeignOutput(join(base, path), { cwd: base, spill_dir: join(base, 'link/own') }),
  );
  assert.deepEqual(foreign, ['real/own-too/b', 'real']);
});

it('an agent program and the files put before a task are kept from it, too', async () => {
  const home = makeFolder({ 'output/trees/other/output-1.txt': 'secret' });
  const spill_dir = join(home, 'output');
  const agent = {
    root_id: 'own',
    config: { tools: ['read'], permissions: { cli: NONE, config: NONE }, cwd: home },
  } as unknown as Agent;
  const path = 'output/trees/other/output-1.txt';
  const host = createModelHost(agent.config, {
    env_allow: [],
    store: { kind: 'postgres', location: '' },
    spill_dir,
  });
  const openModel = () => Promise.reject(new Error('none'));
  for (const answer of [
    await host.readFile(path),
    await resolveNeed(agent, { type: 'file', id: 'f', base: home, path } as never, { openModel, spill_dir }),
  ])
    assert.match(answer.ok ? 'read' : answer.error, /output of another conversation/);
});

it('one tree spills no more than its share: its oldest output makes room for what is new', () => {
  const folder = temporaryFolder();
  const half = (TOOL_LIMITS.spill_tree_bytes - 100_000) / 2;
  for (const [at, name] of ['b', 'a'].entries()) {
    fill(join(folder, name), half);
    utimesSync(join(folder, name), 1000 + at, 1000 + at);
  }
  const file = new SpillFile(folder);
  for (let at = 0; at < 10; at += 1) file.write(Buffer.alloc(64 * 1024));
  const [, path = ''] = /^the whole output is in (.*)$/.exec(file.close()) ?? [];
  assert.equal(statSync(path).size, 655_360);
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.length === 1),
    ['a'],
  );
});

it('what is being written makes room for nothing; what then cannot be kept is told', () => {
  const folder = temporaryFolder();
  const other = new SpillFile(folder);
  other.write(Buffer.from('begun'));
  const [written = ''] = readdirSync(folder);
  truncateSync(join(folder, written), TOOL_LIMITS.spill_tree_bytes - 100_000);
  const file = new SpillFile(folder);
  for (let at = 0; at < 10; at += 1) file.write(Buffer.alloc(64 * 1024));
  assert.match(file.close(), /^the first 100000 bytes are in .*, 555360 bytes were discarded$/);
  utimesSync(join(folder, written), 1000, 1000);
  const later = new SpillFile(folder);
  later.write(Buffer.from('x'));
  assert.match(later.close(), /^the whole output is in /);
  assert.equal(existsSync(join(folder, written)), false, 'left behind by a process that died');
  assert.match(other.close(), /ENOENT/);
});

it('of all trees together the oldest goes first', async () => {
  const folder = temporaryFolder();
  for (const [at, tree] of ['c', 'a', 'b'].entries()) {
    mkdirSync(join(folder, tree));
    fill(join(folder, tree, 'output.txt'), 1000);
    utimesSync(join(folder, tree, 'output.txt'), 1000 + at, 1000 + at);
  }
  assert.deepEqual(await removeSpilledOutput(folder, { keep_bytes: 2000 }), { files: 1, bytes: 1000 });
  assert.deepEqual(readdirSync(folder).sort(), ['a', 'b']);
  assert.deepEqual(await removeSpilledOutput(folder, { keep_bytes: 2000 }), { files: 0, bytes: 0 });
  assert.deepEqual(await removeSpilledOutput(join(folder, 'none'), {}), { files: 0, bytes: 0 });
  assert.ok(existsSync(folder));
});
