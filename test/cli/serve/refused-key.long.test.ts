// Proves with whole processes that nobody fails out of memory where a server's key was refused in the middle of a run: every order of a person asks the provider
// once, children wait, a restart asks once, and all goes on as soon as one of them is answered.
import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import { closeLater, closeOpened } from '../../close-opened.ts';
import { limitedServer, REFUSALS } from '../../runtime/quota/limited-server.ts';
import { answerFor, forkingBrain } from '../../servers/forking-brain.ts';
import { until } from '../../until.ts';
import { makeHome } from '../run-cli.ts';
import { serving } from '../serving.ts';

afterEach(closeOpened);

async function served() {
  const provider = await limitedServer((exchange) =>
    exchange.messages.some(({ text }) => text.includes('FORK')) ? forkingBrain(exchange) : { text: 'hello' },
  );
  const home = makeHome();
  home.configure({
    model: 'one/any',
    agents: { defaults: { permissions: { allow: ['bash'] } } },
    providers: { one: { type: 'openai-compatible', baseURL: `${provider.url}/v1`, apiKeyEnv: 'ONE' } },
  });
  const serve = async (key = 'key-one') => {
    const { url, stop } = await serving(home, [], { ONE: key });
    closeLater(stop);
    return { stop, there: (...args: string[]) => home.run([...args, '--server', url]) };
  };
  /** The trees as the ledger has them. */
  const outcomeOf = async (id: string) => {
    const { stdout } = await home.run(['tree', id, '--json']);
    return (JSON.parse(stdout) as { outcome_text: string }).outcome_text;
  };
  const asks = async (what: string, act: () => Promise<unknown>, times = 1) => {
    const before = provider.asked.length;
    await act();
    assert.equal(provider.asked.length - before, times, what);
  };
  return { provider, home, serve, outcomeOf, asks };
}

it('asks once for every order of a person, and all go on with one answer', async () => {
  const { provider, serve, outcomeOf, asks } = await served();
  const { there } = await serve();
  provider.refuse('key-one', REFUSALS.key, 2);
  const stuck = (await there('run', '--detach', 'FORK 3')).stdout.trim();
  const waits = /^waiting for you: a key that one accepts \(.*; next try at \d\d:\d\d\)$/;
  await until(async () => waits.test(await outcomeOf(stuck)), 'it waits for a person');

  await new Promise((resolve) => setTimeout(resolve, 2_100));
  let failed = '';
  await asks('a new run', async () => {
    const begun = await there('run', 'hello', '--json');
    failed = (JSON.parse(begun.stdout) as { id: string }).id;
    assert.equal(begun.code, 4, begun.stderr);
    assert.match(begun.stdout, /401/);
  });
  await asks('a retry of it', async () => {
    assert.equal((await there('resume', failed, '--retry')).code, 4);
  });
  assert.match(await outcomeOf(stuck), waits);
  await asks('a message to the one that waits', async () => {
    const before = provider.asked.length;
    await there('send', stuck, 'go on, please');
    await until(() => provider.asked.length > before, 'it is tried');
    await until(async () => waits.test(await outcomeOf(stuck)), 'it waits again');
  });
  const again = (await there('run', '--detach', 'hello')).stdout.trim();
  await until(async () => waits.test(await outcomeOf(again)), 'one so soon afterwards waits, too');

  provider.allow('key-one');
  const answered = await there('resume', failed, '--retry');
  assert.deepEqual([answered.code, answered.stdout.trim()], [0, 'hello']);
  for (const id of [stuck, again]) await there('wait', id, '--timeout', '30');
  const { stdout } = await there('show', stuck);
  assert.ok(stdout.includes(answerFor(3)), stdout);
});

it('asks once after a restart, and all go on', async () => {
  const { provider, serve, outcomeOf } = await served();
  const first = await serve();
  provider.refuse('key-one', REFUSALS.key, 5);
  const trees: string[] = [];
  for (let count = 2; count <= 3; count += 1)
    trees.push((await first.there('run', '--detach', `FORK ${count}`)).stdout.trim());
  const allWait = async () => {
    const texts = await Promise.all(trees.map(outcomeOf));
    return texts.every((text) => /a key that one accepts \(.*; next try at/.test(text));
  };
  await until(allWait, 'both wait');
  await first.stop();
  const sent = provider.asked.length;
  const second = await serve();
  await until(() => provider.asked.length > sent, 'it is tried');
  await until(allWait, 'both wait again');
  assert.equal(provider.asked.length, sent + 1);
  await second.stop();
  provider.refuse('key-one', REFUSALS.key);
  const { there } = await serve('key-new');
  for (const id of trees) await there('wait', id, '--timeout', '30');
  assert.ok((await there('show', trees[1] ?? '')).stdout.includes(answerFor(3)));
});
