// Proves that each rule detects its cause, and that a real receiver is notified once, also after a restart and with two servers.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { afterEach, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { Outbox } from '../../../src/channels/outbox/outbox.ts';
import { openWebhook } from '../../../src/channels/webhook/webhook-channel.ts';
import type { AlertRule } from '../../../src/serve/alerts/alerts.ts';
import { Alerts } from '../../../src/serve/alerts/alerts.ts';
import type { Store, Worker } from '../../../src/store/store.ts';
import { defineTool } from '../../../src/tools/define-tool.ts';
import { startWebhookReceiver } from '../../channels/webhook-receiver.ts';
import { closeLater, closeOpened } from '../../close-opened.ts';
import { type Stage, setStage } from '../../runtime/stage.ts';
import { newRoot } from '../../store/ledger-fixture.ts';
import { until } from '../../until.ts';

afterEach(closeOpened);

const note = defineTool({
  name: 'note',
  description: 'Notes a text.',
  input: z.object({ text: z.string() }),
  subject: ({ text }) => text,
  run: ({ text }) => `noted ${text}`,
});
const ASKS = { cli: { allow: [], ask: ['*'], deny: [] }, config: { allow: [], ask: [], deny: [] } };
const TO = ['webhook:ops'];
const RULES: readonly AlertRule[] = [
  { when: 'tree-failed', to: TO },
  { when: 'waits-for-person', after_minutes: 0, to: TO },
  { when: 'cost', usd: 0.5, to: TO },
  { when: 'worker-gone', to: TO },
];

/** A store that, when workers are listed shortly before the lease expires, answers only after it has expired. */
function slowAt(store: Store, expires_at: number): Store {
  const workers = async () => {
    const left = expires_at - (await store.now());
    if (left > 0 && left < 300) await sleep(left + 10);
    return store.workers();
  };
  return altered(store, { workers });
}

/** A store with some methods replaced. */
function altered(store: Store, methods: Partial<Store>): Store {
  return new Proxy(store, {
    get(target, key) {
      const value: unknown = Reflect.get(key in methods ? methods : target, key);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

function watch(
  { store }: Pick<Stage, 'store'>,
  worker_id: string,
  rules = RULES,
  onEntered = () => {},
  onTrouble: (error: unknown) => void = (error) => assert.fail(String(error)),
): Alerts {
  const alerts = new Alerts({
    store,
    worker_id,
    holdsLease: () => true,
    rules,
    onEntered,
    look_ms: 50,
    onTrouble,
  });
  alerts.start();
  closeLater(() => alerts.stop());
  return alerts;
}

it('a failed tree, an approval, a cost and a dead worker are told of, each once', {
  timeout: 60_000,
}, async () => {
  const receiver = await startWebhookReceiver();
  closeLater(() => receiver.close());
  const stage = await setStage(
    ({ user, last }) => {
      if (user === 'break') throw new Error('no answer at all');
      return user === 'ask' && last.length === 0 ? [['note', { text: 'x' }]] : 'done';
    },
    { tools: [note], can_ask: true, cost_usd: 0.3, config: { permissions: ASKS } },
  );
  const { store, runtime } = stage;
  const webhook = openWebhook({ ops: { url: `${receiver.url}/hook`, secret: 'something' } });
  const outbox = new Outbox({
    ledger: store,
    channels: [webhook],
    worker_id: runtime.worker_id,
    holdsLease: () => true,
    log: () => undefined,
  });
  outbox.wake();
  closeLater(() => outbox.stop());
  const told = () =>
    receiver.requests.map(({ body }) => JSON.parse(body) as { kind: string; text: string; root_id: string });
  const about = (words: string) => told().filter(({ text }) => text.includes(words));
  const worker = { id: randomUUID(), host: 'elsewhere', pid: 7, role: 'worker' } as const;
  await store.heartbeat(worker);
  const expires_at = (await store.workers()).find(({ id }) => id === worker.id)?.expires_at ?? 0;
  const first = watch({ store: slowAt(store, expires_at) }, runtime.worker_id, RULES, () => outbox.wake());
  await until(async () => (await store.recall('alerts', 'since')) !== null, 'it looks');

  const cheap = await stage.start('cheap');
  await until(async () => (await store.agent(cheap.id))?.state.type === 'idle', 'it ends');
  const broken = await stage.start('break');
  await until(() => about('A tree failed').length === 1, 'the failed tree');
  assert.equal(about('no answer at all')[0]?.root_id, broken.id);
  const asking = await stage.start('ask');
  await until(() => about('for approval').length === 1, 'the approval');
  assert.equal(about('for approval')[0]?.root_id, asking.id);
  await runtime.send(cheap.id, 'once more');
  await until(() => about('has cost 0.60').length === 1, 'the cost');
  // The lease expires between two reads of the same poll.
  await until(() => about('A process is gone').length === 1, 'the worker');

  await first.stop();
  await store.heartbeat({ id: 'another', host: 'elsewhere', pid: 1, role: 'serve' });
  watch(stage, 'another');
  watch(stage, runtime.worker_id, RULES, () => outbox.wake());
  await runtime.send(cheap.id, 'and once more');
  const seen = (await store.requests(cheap.id)).length;
  await until(async () => (await store.requests(cheap.id)).length > seen - 1, 'another request');
  await sleep(500);
  assert.deepEqual(
    told().map(({ kind }) => kind),
    ['alert', 'alert', 'alert', 'alert'],
  );
});

it('a process that dies is told of, also before its lease ends; one that stops in order is not, although it led agents', async () => {
  const stage = await setStage(() => 'done');
  const { store, runtime } = stage;
  const dead = spawnSync(process.execPath, ['--version']).pid;
  const [died, stopped] = ['died', 'stopped'].map((id, n) => {
    const role = 'worker' as const;
    return { id, host: hostname(), pid: n === 0 ? dead : process.pid, role };
  }) as [Worker, Worker];
  for (const worker of [died, stopped]) await store.heartbeat(worker);
  watch(stage, runtime.worker_id, [{ when: 'worker-gone', to: ['stdout'] }]);
  const sees = async () => (await store.recall('alerts', 'place'))?.includes('"stopped"') === true;
  await until(sees, 'it sees both');
  const led = await newRoot(store, {}, { worker: 'stopped' });
  assert.equal(led.worker, 'stopped');
  await until(async () => (await store.load()).agents.some(({ worker }) => worker === 'stopped'), 'it leads');
  await sleep(200);
  await store.release('stopped');
  await store.unledTrees(1);
  const told = () => store.deliveries({});
  await until(async () => (await told()).length > 0, 'the death');
  await sleep(500);
  assert.deepEqual(
    (await told()).map(({ body }) => body?.includes(`worker ${dead} on`)),
    [true],
  );
  assert.equal(await store.recall('alerts', 'died died'), null);
});

it('what was stopped on purpose is no failure', async () => {
  const stage = await setStage(() => new Promise(() => undefined));
  watch(stage, stage.runtime.worker_id, [{ when: 'tree-failed', to: ['stdout'] }]);
  await until(async () => (await stage.store.recall('alerts', 'since')) !== null, 'it looks');
  const root = await stage.start('for ever');
  await stage.runtime.kill(root.id);
  const other = await stage.start('for ever');
  await stage.runtime.interrupt(other.id, 'enough');
  await sleep(500);
  assert.deepEqual(await stage.store.deliveries({}), []);
});

it('what happened while no server checked is told of after the restart', async () => {
  let stage = await setStage(
    ({ user }) => {
      if (user === 'break') throw new Error('no answer at all');
      return 'done';
    },
    { cost_usd: 0.3 },
  );
  const [dear, broken] = [await stage.start('one'), await stage.start('two')];
  // Enough that those two are not among the newest.
  for (let count = 0; count < 21; count += 1) await stage.start('another');
  await stage.runtime.settled(dear.id);
  await stage.runtime.settled(broken.id);
  const first = watch(stage, stage.runtime.worker_id);
  const kept = async () => (await stage.store.recall('alerts', 'place')) ?? '';
  await until(async () => (await kept()).includes(broken.id), 'it looks');
  await first.stop();

  await stage.runtime.send(dear.id, 'once more');
  await stage.runtime.settled(dear.id);
  await stage.runtime.send(broken.id, 'break');
  await stage.runtime.settled(broken.id).catch(() => undefined);
  stage = await stage.reopen();
  watch(stage, stage.runtime.worker_id);
  await until(async () => (await stage.store.deliveries({})).length === 2, 'both are told of');
  assert.deepEqual(
    new Set((await stage.store.deliveries({})).map(({ root_id }) => root_id)),
    new Set([dear.id, broken.id]),
  );
});

it('a read or a write that fails delays alerts, and loses none', async () => {
  const { store, runtime, start } = await setStage(() => 'done', { cost_usd: 0.6 });
  let refused = 0;
  let [fails_read, fails_write] = [false, true];
  const faulty = altered(store, {
    load: async () => {
      if (fails_read) throw new Error('no load');
      return store.load();
    },
    enterDelivery: async (delivery) => {
      if (fails_write && delivery.target === 'file:full') throw new Error('no entry');
      return store.enterDelivery(delivery);
    },
  });
  const rules: readonly AlertRule[] = [
    { when: 'cost', usd: 0.4, to: ['file:full'] },
    { when: 'cost', usd: 0.5, to: TO },
  ];
  watch({ store: faulty }, runtime.worker_id, rules, undefined, () => {
    refused += 1;
  });
  const targets = async () => (await store.deliveries({})).map(({ target }) => target).sort();
  await until(async () => (await store.recall('alerts', 'place')) !== null, 'it looks');
  fails_read = true;
  await until(() => refused > 0, 'a poll fails');
  const root = await start();
  await runtime.settled(root.id);
  const seen = refused;
  await until(() => refused > seen + 1, 'a poll fails after the request');
  fails_read = false;
  await until(async () => (await targets()).length === 1, 'the second rule is told of');
  assert.deepEqual(await targets(), TO);
  fails_write = false;
  await until(async () => (await targets()).length === 2, 'the first rule is told of, too');
  assert.deepEqual(await targets(), ['file:full', ...TO]);
});
