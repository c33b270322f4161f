// Proves that what an agent reports arrives once and whole, however it says it: by a message, by its last words, or by nothing behind a message.
import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import { closeOpened } from '../close-opened.ts';
import { type Line, type Play, type Scene, setStage } from '../runtime/stage.ts';

afterEach(closeOpened);

/** A root that makes one agent and ends its turn, and answers what comes with all that it was told. */
function parentOf(call: readonly [string, unknown], kid: (scene: Scene) => Line): Play {
  return (scene) => {
    if (scene.name !== 'main') return kid(scene);
    return scene.step === 0 ? [call] : `told: ${scene.user}${scene.last.map(({ output }) => output)}`;
  };
}
const FORK = ['fork', { name: 'kid', prompt: 'x' }] as const;

it('who has written to its parent may end its turn without a word, and is no failure', async () => {
  const on = await setStage(
    parentOf(FORK, ({ step }) => (step === 0 ? [['send', { to: 'parent', message: 'it is mended' }]] : '')),
  );
  const { reply } = await on.perform();
  assert.match(reply ?? '', /it is mended/);
  const kid = await on.agent('kid');
  assert.equal(kid.state.type, 'idle');
  assert.equal(on.requests.filter(({ agent }) => agent.name === 'kid').length, 2);
});

it('so may who has sent its completion with slash, as it was told', async () => {
  const done = '{"status":"idle","success":true,"summary":"it is mended"}';
  const play = parentOf(['slash', { command: 'fork x' }], (scene) =>
    scene.step === 0
      ? [['slash', { command: `send ${scene.parent_id} ${done}` }]]
      : ` ${assert.match(scene.last[0]?.output ?? '', /end your turn/) ?? ''}`,
  );
  const on = await setStage(play, { toolsets: ['slash'] });
  const { root, reply } = await on.perform();
  assert.match(reply ?? '', /it is mended/);
  const kids = (await on.store.agents({ root_id: root.id })).filter(({ id }) => id !== root.id);
  assert.deepEqual(
    kids.map(({ state }) => state.type),
    ['idle'],
  );
});

it('who has written to nobody is asked once more for words', async () => {
  const on = await setStage(parentOf(FORK, ({ step }) => (step === 0 ? '' : 'it is mended')));
  assert.match((await on.perform()).reply ?? '', /it is mended/);
});

const SPAWN = ['spawn_agents', { tasks: [{ task: 'x', label: 'kid' }] }] as const;
const fanned = (kid: (scene: Scene) => Line) => setStage(parentOf(SPAWN, kid), { toolsets: ['fanout'] });

it('the last words of a child of spawn_agents are its result, and it is not asked to say them again', async () => {
  const on = await fanned(({ step }) => (step === 0 ? 'Two faults: a and b.' : 'See above.'));
  const { reply } = await on.perform();
  assert.match(reply ?? '', /"result":"Two faults: a and b\."/);
  assert.match(reply ?? '', /it ended without submit_result/);
  assert.equal(on.requests.filter(({ agent }) => agent.name === 'kid').length, 1);
});

it('a child of spawn_agents that only announces what it does next is asked for it, at any time', async () => {
  const on = await fanned(
    ({ step }) =>
      ['Let me read it.', [['spawn_agents', {}]], "Now I'll look at b.", 'a and b are bad.'][step] as Line,
  );
  const { reply } = await on.perform();
  assert.match(reply ?? '', /a and b are bad\./);
});
