// Proves that an agent which only sleeps in a shell hears of mail at once, and that other commands and later sleeps are left alone.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createBashTool } from '../../../src/tools/bash.ts';
import { until } from '../../until.ts';
import { onBothDatabases, stagesOn } from '../both-databases.ts';
import type { Line, Stage } from '../stage.ts';

const LONG = 'sleep 100';
const FORKS: Readonly<Record<string, Line>> = {
  process: [['fork', { name: 'kid', prompt: 'x' }]],
  slash: [['slash', { command: 'fork x' }]],
};

onBothDatabases('an agent that sleeps', (database) => {
  const stage = stagesOn(database, { tools: [createBashTool(null)], config: { tools: ['bash'] } });

  async function isInShell(on: Stage): Promise<boolean> {
    const { state } = await on.agent('main');
    return state.type === 'executing' && state.running.some(({ call }) => call.name === 'bash');
  }

  /** The outputs of these commands of a root, whose child reports once the first of them runs. */
  async function outputs(toolset: string, commands: readonly string[]): Promise<string[]> {
    const on: Stage = await stage(
      async (scene): Promise<Line> => {
        if (scene.name !== 'main') {
          await until(() => isInShell(on), 'the root is in the shell');
          return 'reported';
        }
        if (scene.step === 0) return FORKS[toolset] as Line;
        const command = commands[scene.step - 1];
        return command === undefined ? 'done' : [['bash', { command }]];
      },
      { toolsets: [toolset] },
    );
    const { root } = await on.perform();
    const results = await on.results(root);
    assert.ok(results.every(({ status }) => status === 'ok'));
    return results.slice(1, commands.length + 1).map(({ output }) => output);
  }

  it('is told at once that mail came, once for each, and how it is read', async () => {
    const ended = (reader: string) =>
      `[ended early: mail came. ${reader} reads it. You need not sleep: end your turn, and mail wakes you.]`;
    assert.deepEqual(await outputs('process', [LONG, 'sleep 0.1; echo later']), [ended('wait'), 'later\n']);
    assert.deepEqual(await outputs('slash', [`${LONG} && echo done`]), [ended('check-mail')]);
  });

  it('is not disturbed in a command that does anything else', async () => {
    assert.deepEqual(await outputs('process', ['printf a; sleep 1; printf b']), ['ab']);
  });

  it('runs nothing that stands behind a sleep that mail has ended, and says so', async () => {
    const [early = ''] = await outputs('process', ['sleep 100d; cat x']);
    assert.match(
      early,
      /^\[ended early: mail came\. What stands behind the sleep was not run\. wait reads it/,
    );
  });

  it('hears a person, too', async () => {
    const on = await stage((scene) => (scene.step === 0 ? [['bash', { command: LONG }]] : scene.user));
    const root = await on.start('go');
    await until(() => isInShell(on), 'the root is in the shell');
    await on.runtime.send(root.id, 'hello');
    await on.runtime.settled(root.id);
    assert.match(
      (await on.results(root))[0]?.output ?? '',
      /^\[ended early: mail came\. You need not|^\[ended early: mail came\. wait/,
    );
    assert.equal((await on.agent('main')).reply, 'hello');
  });
});
