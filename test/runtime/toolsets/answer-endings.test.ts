// Proves, on both databases, that a child whose model refuses is reported as failed to its parent in every vocabulary, and that people are told.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { onBothDatabases } from '../both-databases.ts';
import {
  type Broken,
  bare,
  forked,
  type Line,
  type Play,
  type Scene,
  type Stage,
  setStage,
} from '../stage.ts';
import { rounds } from './fanout-stage.ts';

const REFUSED: Broken = { text: '', finish: 'refused', reason: 'SAFETY' };
const WORDS = 'a content filter of the provider blocked the answer (SAFETY)';

/** A play in which the root says these lines, then `done`, and all other agents refuse. */
function refusing(...lines: readonly ((scene: Scene) => Line)[]): Play {
  return (scene) => (scene.name === 'main' ? (lines[scene.step] ?? (() => 'done'))(scene) : REFUSED);
}

onBothDatabases('a refusing child', (database) => {
  async function played(toolset: string, play: Play): Promise<Stage> {
    const on = await setStage(play, {
      toolsets: [toolset],
      database: await database(),
    });
    await on.perform();
    return on;
  }

  it('process: a wait shows the error', async () => {
    const play: Play = (scene) => {
      if (scene.name !== 'main') return REFUSED;
      if (scene.step === 0) return [['fork', { name: 'c', prompt: 'go' }]];
      const seen = scene.last[0]?.output.includes('"status":"idle"') === true;
      return seen ? 'done' : [['wait', { timeout: 1, from_agents: forked(scene) }]];
    };
    const on = await played('process', play);
    const waited = (await on.results(await on.agent('main'))).at(-1);
    assert.match(waited?.output ?? '', /content filter of the provider blocked/);
    assert.equal((await on.agent('c')).state.type, 'errored');
  });

  it('slash: the parent gets a completion message that says failed', async () => {
    // The child may end before its parent looks into its mailbox, or after.
    const play: Play = (scene) => {
      if (scene.name !== 'main') return REFUSED;
      if (scene.step === 0) return [['slash', { command: 'fork "do it"' }]];
      const is_told = scene.results.some(({ output }) => output.includes('"success"'));
      return is_told ? 'done' : [['slash', { command: 'check-mail' }]];
    };
    const on = await played('slash', play);
    const outputs = (await on.results(await on.agent('main'))).map(({ output }) => output).join('\n');
    assert.match(outputs, /"success":\s*false/);
    assert.match(outputs, /content filter of the provider blocked/);
  });

  it('fanout: the row is a failure of kind refused', async () => {
    const on = await played(
      'fanout',
      refusing(() => [['spawn_agents', { tasks: [{ task: 'a' }] }]]),
    );
    const [[row]] = (await rounds(on, await on.agent('main'))) as unknown as [
      [{ outcome: { failure: object } }],
    ];
    assert.deepEqual(row.outcome.failure, { error: WORDS, error_kind: 'refused' });
  });

  it('sessions: the announcement says failed', async () => {
    const on = await played(
      'sessions',
      refusing(() => [['sessions_spawn', { task: 'a', label: 'a' }]]),
    );
    const root = await on.agent('main');
    const texts = (await on.store.history(root.id)).flatMap((one) =>
      one.kind === 'user' && one.content.origin === 'system' ? [bare(one.content.text)] : [],
    );
    assert.deepEqual(texts, [`[Subagent: a] Failed: ${WORDS}`]);
    const [run] = await on.store.runs({ root_id: root.id });
    assert.deepEqual([run?.status, run?.error], ['failed', WORDS]);
  });

  it('delegate: the call is an error', async () => {
    const on = await played(
      'delegate',
      refusing(() => [['subagent_spawn', { task: 'a', description: 'a' }]]),
    );
    const [result] = await on.results(await on.agent('main'));
    assert.equal(result?.status, 'error');
    assert.match(result.output, /content filter of the provider blocked/);
  });

  it('a tree of a person ends in a failure, and a retry sends the request without the refused answer', async () => {
    const said: Line[] = [{ text: 'Well, I', finish: 'refused' }, 'hello'];
    const on = await setStage(() => said.shift() ?? 'no more', { database: await database() });
    const { root, failure } = await on.perform('begin');
    assert.deepEqual([failure?.kind, failure?.error], ['refused', 'the model declined to answer']);
    const again = await on.reopen();
    await again.runtime.resume(root.id, { retry: true });
    const { reply } = await again.runtime.settled(root.id);
    assert.equal(reply, 'hello');
    assert.deepEqual(again.requests[0]?.messages, [{ role: 'user', text: 'begin' }]);
  });

  it('a truncated reply and its continuation are one text', async () => {
    const said: Line[] = [{ text: 'one, tw', finish: 'length' }, 'o, three'];
    const on = await setStage(() => said.shift() ?? 'no more', { database: await database() });
    const { reply, failure } = await on.perform('begin');
    assert.deepEqual([reply, failure], ['one, two, three', null]);
  });
});
