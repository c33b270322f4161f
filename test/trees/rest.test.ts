// Proves that every door tells alike how an agent rests: who ended it, why its turn failed, which limit cut it short; and that a wait sees it at once.
import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import { restRow } from '../../src/mcp/listed-agents.ts';
import { isActive } from '../../src/records/agent/agent.ts';
import { waitDocument } from '../../src/trees/answers/wait-document.ts';
import { lookUntil } from '../../src/trees/rest.ts';
import { closeOpened } from '../close-opened.ts';
import { type Play, setStage } from '../runtime/stage.ts';
import { until } from '../until.ts';

afterEach(closeOpened);

const rows: readonly (readonly [string, Play, boolean, RegExp | undefined])[] = [
  ['that was killed', () => [['wait', { timeout: 60 }]], true, /^killed by you$/],
  ['whose answer was cut off', () => ({ text: 'so', finish: 'length' }), false, /./],
  ['that is done', () => 'done', false, undefined],
];
for (const [what, play, kill, error] of rows)
  it(`an agent ${what} has the same row for commands and for MCP clients`, async () => {
    const on = await setStage(play);
    const root = await on.start();
    if (kill) await on.runtime.kill(root.id);
    await on.runtime.settled(root.id);
    const agent = await on.agent('main');
    const sources = { store: on.store, unled: { options: {}, env: {} } };
    const document = await waitDocument(sources, { agents: [root.id], timeout_seconds: 5 });
    const [ours] = document.results;
    const theirs = restRow(agent, false, Date.now());
    assert.deepEqual([ours?.error, ours?.limit], [theirs.error, theirs.limit]);
    if (error === undefined) assert.equal(ours?.error, undefined);
    else assert.match(ours?.error ?? '', error);
    assert.equal(document.timed_out, undefined);
  });

it('a wait ends when an agent is killed, however long it may last, and when it is given up', async () => {
  const { promise: never } = Promise.withResolvers<string>();
  const on = await setStage(() => never);
  const root = await on.start();
  await until(async () => isActive(await on.agent('main')), 'work');
  const look = async () => ({ agent: await on.agent('main') });
  const given_up = new AbortController();
  const first = lookUntil(on, look, (now) => !isActive(now.agent), { signal: given_up.signal });
  given_up.abort();
  assert.ok(isActive((await first).agent));
  const second = lookUntil(on, look, (now) => !isActive(now.agent));
  await on.runtime.kill(root.id);
  assert.equal((await second).agent.state.type, 'killed');
});
