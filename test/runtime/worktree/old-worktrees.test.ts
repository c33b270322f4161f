// Proves whose a worktree is: that of the agents that work in it or below, and not of those in a folder whose name goes on.
import assert from 'node:assert/strict';
import { mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { worktreeFolder } from '../../../src/processes/output/spill-folder.ts';
import type { Agent } from '../../../src/records/agent/agent.ts';
import { OldWorktrees } from '../../../src/runtime/worktree/old-worktrees.ts';
import type { Store } from '../../../src/store/store.ts';
import { agentOf } from '../../kernel/turn/turn-stage.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

it('a worktree is old when its own agents have ended, whatever lives in a folder of a similar name', async () => {
  const spill_dir = temporaryFolder();
  const folder = worktreeFolder(spill_dir);
  for (const name of ['abcd0123-fix', 'abcd0123-fix-2'])
    mkdirSync(join(folder, name, 'sub'), { recursive: true });
  const [ended, alive] = ['abcd0123-fix', 'abcd0123-fix-2'].map((name) => join(realpathSync(folder), name));
  const worker = (id: string, cwd = '', more: Partial<Agent> = {}): Agent => {
    const agent = agentOf(id, { root_id: 'root', updated_at: 1, ...more });
    return { ...agent, config: { ...agent.config, cwd } };
  };
  const done: Partial<Agent> = { state: { type: 'completed' } as Agent['state'] };
  const agents = [worker('one', ended, done), worker('two', `${ended}/sub`, done), worker('three', alive)];
  const store = { find: async () => [], agents: async () => agents } as unknown as Store;
  const old = await OldWorktrees.find(store, spill_dir, true);
  await old.removeEnded(1);
  assert.equal(old.all.length, 0, 'they ended at that time, not before it');
  await old.removeEnded(2);
  assert.deepEqual(
    old.all.map(({ path, agent }) => [path, agent?.id]),
    [[ended, 'one']],
  );
  await old.removeOf(['another']);
  await old.removeOf(['root']);
  assert.deepEqual(
    old.all.map(({ path }) => path),
    [ended, alive],
  );
});
