/** Proves that spilled output belongs to one tree: other trees can neither read, search nor view it, even if their folder contains the output folder. */
import assert from 'node:assert/strict';
import { statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, it } from 'node:test';
import { isForeignOutput } from '../../../src/permissions/path-guard.ts';
import type { Agent } from '../../../src/records/agent/agent.ts';
import { resolveNeed } from '../../../src/runtime/performing/resolve-need.ts';
import { createModelHost } from '../../../src/settings/agent-program-host.ts';
import { createBuiltInTools } from '../../../src/tools/tool-registry.ts';
import { closeOpened } from '../../close-opened.ts';
import { makeFolder } from '../project-folder.ts';
import { setStage } from '../stage.ts';

afterEach(closeOpened);

const NONE = { allow: [], ask: [], deny: [] };

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
  // The working directory of these trees contains the folder of all output.
  const second = (await on.results((await on.perform()).root)).slice(1);
  for (const { output } of second.slice(0, 2)) assert.match(output, /output of another conversation/);
  assert.equal(second[2]?.output.includes(files[0]!.split('/').at(-1)!), false);
  assert.equal(statSync(files[0]!).mode & 0o777, 0o600);
});

it('recognizes the output of a tree by any path to its folder', () => {
  const base = makeFolder({ 'real/own/a': '', 'real/own-too/b': '', 'work/c': '' });
  symlinkSync('real', join(base, 'link'));
  const foreign = ['real/own/a', 'real/own', 'real/own-too/b', 'real', 'work/c'].filter((path) =>
    isForeignOutput(join(base, path), { cwd: base, spill_dir: join(base, 'link/own') }),
  );
  assert.deepEqual(foreign, ['real/own-too/b', 'real']);
});

it('agent programs and read_first cannot reach the output of other trees either', async () => {
  const home = makeFolder({ 'output/trees/other/output-1.txt': 'secret' });
  const spill_dir = join(home, 'output');
  const agent = {
    root_id: 'own',
    config: { tools: ['read'], permissions: { cli: NONE, config: NONE }, cwd: home },
  } as unknown as Agent;
  const path = 'output/trees/other/output-1.txt';
  const host = createModelHost(agent, {
    env_allow: [],
    store: { kind: 'postgres', location: '' },
    spill_dir,
  });
  const openModel = () => Promise.reject(new Error('none'));
  for (const answer of [
    await host.readFile(path),
    await resolveNeed(
      agent,
      { type: 'file', id: 'f', base: home, path } as never,
      { openModel, spill_dir } as never,
    ),
  ])
    assert.match(answer.ok ? 'read' : answer.error, /output of another conversation/);
});
