/** Proves that of two runs which begin at once to continue an interrupted agent in its worktree, one does, and that it may ask again. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { EarlierRuns } from '../../src/runtime/performing/earlier-run.ts';
import { CONFIG } from '../store/ledger-fixture.ts';

it('one of two runs that ask at once gets the worktree of an interrupted agent', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'claim-'));
  try {
    const [path, git] = [join(folder, 'tree'), join(folder, 'git')];
    for (const one of [path, git]) mkdirSync(one);
    writeFileSync(join(path, '.git'), `gitdir: ${git}\n`);
    const task = { worktree: { path, branch: 'b' } };
    const config = { ...CONFIG, cwd: path, task };
    const agent = { id: 'cut', name: 'cut', state: { type: 'killed' }, config };
    const store = {
      agent: async (id: string) => (id === 'cut' ? agent : { ...agent, id, state: { type: 'executing' } }),
      // No other agents of the ledger are read.
      agents: async (filter: object) => {
        assert.deepEqual(filter, { cwd: path });
        return [agent];
      },
      history: async () => [{ kind: 'assistant', content: { model: 'm', parts: [] }, seq: 1 }],
    };
    const call = { key: 'k', name: '', label: 'cut', phase: null };
    const need = { type: 'earlier', run: 'r', agent: 'cut', call, worktree: null } as const;
    const ask = (by: string) =>
      new EarlierRuns(store as never).answer(need, by, () => Promise.reject(new Error('no other one')));
    const [one, other] = await Promise.all([ask('one'), ask('other')]);
    assert.equal(one.ok, true, JSON.stringify(one));
    assert.match(other.ok ? 'ok' : other.error, /another run begins to continue it/);
    assert.equal((await ask('one')).ok, true, 'a repeated step of the same run');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
