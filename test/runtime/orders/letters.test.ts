/** Proves that a letter from a person to a working agent reaches its model once, with its pictures, unless it is withdrawn before it is read. */
import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import { closeOpened } from '../../close-opened.ts';
import { until } from '../../until.ts';
import { besideWorker, setStage } from '../stage.ts';

afterEach(closeOpened);

const PNG = { media_type: 'image/png', base64: 'aGk=' };

/** A root whose first answer is given by the test; later answers repeat what the person wrote. */
async function answering() {
  const answer = Promise.withResolvers<string>();
  const asked = Promise.withResolvers<void>();
  const stage = await setStage(async ({ step, user }) => {
    if (step > 0) return `heard: ${user}`;
    asked.resolve();
    return answer.promise;
  });
  const root = await stage.start('begin');
  await asked.promise;
  return { stage, root, answer };
}

it('a letter with pictures joins the turn; one that is taken back does not, and is not taken back once it is read', async () => {
  const { stage, root, answer } = await answering();
  const kept = await stage.runtime.send(root.id, 'look at this', { images: [PNG] });
  const regretted = await stage.runtime.send(root.id, 'delete everything');
  assert.equal(await stage.runtime.takeBack(root.id, regretted.id), true);
  answer.resolve('done');
  const { reply } = await stage.runtime.settled(root.id);
  assert.equal(reply, 'heard: look at this');
  const [, request] = stage.requests;
  assert.deepEqual(
    request?.messages.filter(({ role }) => role === 'user'),
    [
      { role: 'user', text: 'begin' },
      { role: 'user', text: 'look at this', images: [PNG] },
    ],
  );
  assert.equal(await stage.runtime.takeBack(root.id, kept.id), false);
  assert.equal(stage.requests.length, 2);
});

it('a letter that another process takes back is not read by the one that leads the agent', async () => {
  const { stage, root, answer } = await answering();
  const regretted = await stage.runtime.send(root.id, 'delete everything');
  await stage.runtime.send(root.id, 'be kind');
  const other = await stage.elsewhere();
  assert.equal(await other.takeBack(root.id, regretted.id), true);
  answer.resolve('done');
  const { reply } = await stage.runtime.settled(root.id);
  assert.equal(reply, 'heard: be kind');
  assert.equal(stage.requests.length, 2, 'no answer was asked for twice');
  assert.ok(!JSON.stringify(stage.requests).includes('delete everything'));
});

it('a letter that ends a wait brings its pictures to the model', async () => {
  const stage = await setStage(
    besideWorker(({ step, last }) =>
      step === 0 ? [['wait', { timeout: 60 }]] : `heard: ${last[0]?.output.includes('look at this')}`,
    ),
  );
  const root = await stage.start('begin');
  await until(async () => (await stage.agent('main')).doing === 'wait for a message', 'it waits');
  await stage.runtime.send(root.id, 'look at this', { images: [PNG] });
  assert.equal((await stage.runtime.settled(root.id, 'root')).reply, 'heard: true');
  const { messages } = stage.requests.findLast(({ agent }) => agent.id === root.id) ?? { messages: [] };
  const result = messages.flatMap((one) => (one.role === 'results' ? one.results : [])).at(-1);
  assert.deepEqual(result?.images, [PNG]);
});
