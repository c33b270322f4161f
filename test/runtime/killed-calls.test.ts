// Proves that a kill immediately stops what runs for a killed agent: the process of a tool, three generations down, whether the kill comes from this process or
// was written to the ledger without a wake-up.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, it } from 'node:test';
import { createBuiltInTools } from '../../src/tools/tool-registry.ts';
import { closeOpened } from '../close-opened.ts';
import { until } from '../until.ts';
import { isRunning } from './is-running.ts';
import { type Play, type Stage, setStage } from './stage.ts';

afterEach(closeOpened);

/** `main` forks `mid`, which forks `kid`, which runs a command that does not end by itself. */
const play: Play = ({ name, step }) => {
  if (name === 'kid') return [['bash', { command: 'echo $$ > pid.new; mv pid.new pid; exec sleep 600' }]];
  const below = name === 'main' ? 'mid' : 'kid';
  return step === 0 ? [['fork', { name: below, prompt: `be ${below}` }]] : 'done';
};

const WAYS: readonly (readonly [string, (on: Stage, id: string) => Promise<unknown>])[] = [
  ['here', (on, id) => on.runtime.kill(id)],
  // Written through the runtime's own connection, whose writes wake nobody: only a poll finds the kill.
  ['in the ledger', (on, id) => on.store.kill(id, 'you', Date.now())],
];
for (const [where, kill] of WAYS)
  it(`the command of a grandchild ends when its parent is killed ${where}`, async () => {
    const on = await setStage(play, { tools: createBuiltInTools() });
    try {
      const root = await on.start();
      const file = join(root.config.cwd, 'pid');
      await until(() => existsSync(file), 'the command runs');
      const pid = Number(readFileSync(file, 'utf8'));
      assert.ok(isRunning(pid));
      await kill(on, (await on.agent('mid')).id);
      await until(() => !isRunning(pid), 'the command has ended');
      assert.equal((await on.agent('kid')).state.type, 'killed');
      await until(async () => (await on.agent('main')).state.type === 'idle', 'the root was told, and rests');
    } finally {
      await on.close();
    }
  });
