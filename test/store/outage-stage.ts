import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Agent } from '../../src/records/agent/agent.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { StoreError } from '../../src/store/store-error.ts';
import { child, letter, newRoot, said, stepOf } from './ledger-fixture.ts';

const AGENTS = 6;

/** Counts of the work done while the database was alternately available and unavailable. */
export interface OutageReport {
  readonly steps: number;
  readonly claims: number;
  readonly letters: number;
  /** Calls that failed because the server was unreachable or refused writes. */
  readonly failed: number;
  /** Retried calls that had taken effect the first time. */
  readonly ambiguous: number;
}

interface Count {
  steps: number;
  claims: number;
  letters: number;
  failed: number;
  ambiguous: number;
}

/** Retries until the ledger answers, as all its callers do. */
async function insist<T>(count: Count, work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StoreError) || error.code !== 'E_DB_UNAVAILABLE') throw error;
      count.failed += 1;
      await sleep(20);
    }
  }
}

/**
 * Works on the ledger at `url` over three stores, as three processes would, while `faults` happen, and for a while afterwards; then checks that every
 * letter, step, claim and signal is there exactly once.
 */
export async function workThrough(url: string, faults: () => Promise<void>): Promise<OutageReport> {
  const [leading, writing, listening] = await Promise.all([openStore(url), openStore(url), openStore(url)]);
  const count: Count = { steps: 0, claims: 0, letters: 0, failed: 0, ambiguous: 0 };
  const worker = `w-${randomUUID()}`;
  const root = await newRoot(leading, { children: 100, live: 100, total: 100 }, { worker });
  const agents: Agent[] = [];
  for (let n = 0; n < AGENTS; n += 1) agents.push(await child(leading, root));
  const tree = await newRoot(leading, {}, { worker: null });
  let over = false;
  const isOver = () => over;
  const work = Promise.all([
    ...agents.map((agent, n) => stepOn(leading, agent, agents[(n + 1) % AGENTS] as Agent, count, isOver)),
    claimOn(leading, tree, count, isOver),
    writeTo(writing, root, count, isOver),
    hearOf(listening, worker, isOver, count),
  ]);
  // Reports a failure of the work during the faults here, not as an unhandled rejection.
  await Promise.race([faults(), work]);
  const before = { ...count };
  for (let tries = 0; tries < 1_000 && count.steps < before.steps + 20; tries += 1) await sleep(20);
  over = true;
  await work;
  assert.ok(count.steps >= before.steps + 20, 'the work went on when the faults were over');
  const [agent] = await leading.find(root.id);
  assert.equal(agent?.mail_count, count.letters);
  await Promise.all([leading.close(), writing.close(), listening.close()]);
  return count;
}

/** Commits steps alternately with and without messages, each with a letter to a sibling. */
async function stepOn(
  store: Store,
  own: Agent,
  neighbour: Agent,
  count: Count,
  isOver: () => boolean,
): Promise<void> {
  const sent: string[] = [];
  for (let n = 0; !isOver(); n += 1) {
    const agent = (await insist(count, () => store.agent(own.id))) as Agent;
    const mail = { ...letter(agent, neighbour), id: `${own.id}-${n}` };
    const step = stepOf(agent, { send: [mail], messages: n % 2 === 0 ? [said(`${n}`)] : [], calls: 1 });
    const [verdict] = await insist(count, () => store.commit([step]));
    if (verdict?.ok !== true) {
      assert.equal(verdict?.refusal.reason, 'stale');
      count.ambiguous += 1;
    }
    sent.push(mail.id);
    count.steps += 1;
  }
  const agent = (await insist(count, () => store.agent(own.id))) as Agent;
  assert.equal(agent.calls, sent.length, 'each step counts once');
  assert.equal(agent.last_seq, 1 + Math.ceil(sent.length / 2), 'each message is there once');
  const arrived = (await insist(count, () => store.mail(neighbour.id, true))).filter(
    ({ from_id }) => from_id === own.id,
  );
  assert.deepEqual(
    arrived.map(({ id }) => id),
    sent,
  );
}

/** Claims and releases a tree repeatedly: no claim is lost with its acknowledgement. */
async function claimOn(store: Store, tree: Agent, count: Count, isOver: () => boolean): Promise<void> {
  const worker = { id: `w-${randomUUID()}`, host: 'elsewhere', pid: 1 };
  let epoch = 1;
  while (!isOver()) {
    await insist(count, () => store.heartbeat(worker));
    const [claimed, ...more] = await insist(count, () => store.claim(tree.id, worker));
    assert.ok(claimed !== undefined && more.length === 0, 'a claim that was answered late was made good');
    assert.ok(claimed.epoch > epoch);
    epoch = claimed.epoch;
    await insist(count, () => store.releaseTree(tree.id, worker.id));
    count.claims += 1;
  }
}

/** Sends letters from outside, each with its own id. */
async function writeTo(store: Store, to: Agent, count: Count, isOver: () => boolean): Promise<void> {
  const sent: string[] = [];
  while (!isOver()) {
    const mail = { ...letter(to, to), id: `outside-${count.letters}`, from_id: null };
    const { ok } = await insist(count, () => store.send(mail));
    assert.ok(ok);
    sent.push(mail.id);
    count.letters += 1;
  }
  const mail = await insist(count, () => store.mail(to.id));
  assert.deepEqual(
    mail.map(({ id, number }) => [id, number]),
    sent.map((id, n) => [id, n + 1]),
  );
}

/** Checks that the recipient's worker gets one signal for every letter, and wake-ups after every outage. */
async function hearOf(store: Store, worker: string, isOver: () => boolean, count: Count): Promise<void> {
  let [heard, woken] = [0, 0];
  const stop = await store.listen(worker, () => {
    woken += 1;
  });
  const look = async () => {
    heard += (await insist(count, () => store.signals(worker))).filter(({ kind }) => kind === 'mail').length;
  };
  while (!isOver()) {
    await look();
    await sleep(5);
  }
  const seen = woken;
  for (let tries = 0; tries < 500 && (heard !== count.letters || woken === seen); tries += 1) {
    await look();
    await sleep(20);
  }
  assert.equal(heard, count.letters);
  assert.ok(woken > seen, 'it is still woken');
  await stop();
}
