import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Step, Verdict } from '../../../src/kernel/step.ts';
import { DEFAULT_LIMITS } from '../../../src/records/agent/limits.ts';
import { isTerminal } from '../../../src/records/agent/state.ts';
import type { NewMail } from '../../../src/records/conversation/mail.ts';
import type { Store } from '../../../src/store/store.ts';
import { newAgent, said, stepOf } from '../../store/ledger-fixture.ts';
import type { Command, Inner } from './ledger-command.ts';
import { LedgerModel, type ModelAgent } from './ledger-model.ts';

const LIMITS = { ...DEFAULT_LIMITS, depth: 3, children: 3, live: 6, total: 9 };

function letterTo(to: ModelAgent, from: ModelAgent | null): NewMail {
  return {
    id: randomUUID(),
    root_id: to.root_id,
    to_id: to.id,
    from_id: from?.id ?? null,
    from_name: 'a',
    kind: 'letter',
    body: 'hi',
    sent_at: 1,
  };
}

/** Runs commands on a real store and the model together; two trees, each led by one worker at a time. */
export class LedgerRun {
  #at = 0;
  readonly model = new LedgerModel(LIMITS);
  readonly store: Store;
  /** The worker of each tree. */
  readonly workers = new Map<string, string>();
  /** The kinds of verdicts seen so far; limits by name. */
  readonly met: Set<string>;

  constructor(store: Store, met: Set<string>) {
    this.store = store;
    this.met = met;
  }

  async createRoot(): Promise<void> {
    const root = newAgent(null, { worker: randomUUID() });
    this.workers.set(root.agent.id, root.agent.worker as string);
    await this.store.heartbeat({ id: root.agent.worker as string, host: 'elsewhere', pid: 1 });
    await this.store.createRoot(root, LIMITS);
    this.model.add(root);
  }

  pick(index: number): ModelAgent {
    const all = [...this.model.agents.values()];
    return all[index % all.length] as ModelAgent;
  }

  async run(one: Command): Promise<void> {
    switch (one.type) {
      case 'commit': {
        // Each step is built on the state after the earlier steps of the commit, which it sees.
        const steps: Step[] = [];
        const expected = one.steps.map((inner) => {
          const step = this.stepOf(inner);
          steps.push(step);
          return this.model.apply(step);
        });
        const verdicts = await this.store.commit(steps);
        assert.deepEqual(verdicts.map(reasonOf), expected);
        for (const verdict of verdicts) this.met.add(kindOf(verdict));
        return;
      }
      case 'human': {
        const mail = letterTo(this.pick(one.to), null);
        const dead = isTerminal(this.model.get(mail.to_id).type);
        if (!dead) this.model.deliver(mail);
        assert.equal((await this.store.send(mail)).ok, !dead);
        return;
      }
      case 'kill': {
        const { id } = this.pick(one.who);
        const { ids } = await this.store.kill(id, 'you', 1);
        assert.deepEqual(ids.toSorted(), this.model.kill(id).toSorted(), 'law 9');
        return;
      }
      case 'takeover':
        return this.takeOver([...this.workers.keys()][one.tree % this.workers.size] as string);
    }
  }

  /** Law 8: taking over a tree raises the epochs of its agents. */
  async takeOver(root_id: string): Promise<void> {
    const worker = { id: randomUUID(), host: 'elsewhere', pid: 2 };
    await this.store.release(this.workers.get(root_id) as string);
    await this.store.heartbeat(worker);
    const claimed = await this.store.claim(root_id, worker);
    const living = this.model.living(this.model.members(root_id));
    assert.deepEqual(claimed.map(({ id }) => id).toSorted(), living.map(({ id }) => id).toSorted());
    for (const agent of living) agent.epoch += 1;
    this.workers.set(root_id, worker.id);
  }

  #nextAt(): number {
    this.#at += 1;
    return this.#at;
  }

  stepOf(inner: Inner): Step {
    const agent = this.pick(inner.who);
    const base_seq = this.model.lastSeq(agent);
    const { id, epoch } = agent;
    const idle = { state: { type: 'idle' }, reply: null, noticed: 0, sent_this_turn: false } as const;
    // Every step must differ: the ledger treats an identical one as a retry.
    const step = stepOf({ id, epoch, last_seq: base_seq, ...idle }, { at: this.#nextAt() });
    switch (inner.type) {
      case 'grow':
        return { ...step, messages: [said('forks')], create: this.#children(agent, inner, base_seq + 1) };
      case 'say':
        return { ...step, messages: Array.from({ length: inner.count }, (_, place) => said(`${place}`)) };
      case 'send': {
        const to = this.pick(inner.to);
        return { ...step, send: Array.from({ length: inner.count }, () => letterTo(to, agent)) };
      }
      case 'take': {
        // May pick mail of another agent, and mail that was already consumed.
        const { mail } = inner.foreign === 0 ? this.pick(inner.letter) : agent;
        const taken = mail[inner.letter % Math.max(mail.length, 1)];
        const consume = taken === undefined ? [] : [{ mail_id: taken.id, seq: base_seq + 1 }];
        return { ...step, messages: [said('reads')], consume };
      }
      case 'wait': {
        const waits_for = [...new Set(inner.targets.map((target) => this.pick(target).id))];
        // Some waits have no time limit; the others have different ones.
        const ends = waits_for.flatMap((id, index) => {
          const until = (inner.targets[index] ?? 0) % 4;
          return until === 0 ? [] : [[id, until] as const];
        });
        return { ...step, waits_for, waits_until: Object.fromEntries(ends) };
      }
      case 'end':
        return { ...step, state: { type: 'completed', result: 'done' } };
      case 'cut':
        return { ...step, kill: [this.pick(inner.target).id] };
      case 'stale':
        return inner.epoch
          ? { ...step, epoch: agent.epoch - 1, messages: [said('from the past')] }
          : { ...step, base_seq: base_seq - 1, messages: [said('in the same place')] };
    }
  }

  #children(agent: ModelAgent, { count, spawn, point }: Extract<Inner, { type: 'grow' }>, seq: number) {
    const parent = { ...agent, worker: this.workers.get(agent.root_id) as string };
    // A fork point may be anywhere in the conversation, including before its first message.
    const forked_from = spawn ? null : { agent_id: agent.id, seq: point % (seq + 1) };
    const origin = spawn ? ('spawn' as const) : ('fork' as const);
    return Array.from({ length: count }, () =>
      newAgent(parent as never, { forked_from, origin }, [said('child')]),
    );
  }

  /** Checks laws 7 and 9 on the rows of trees and agents, then these rows against the model. */
  async check(): Promise<void> {
    for (const root_id of this.workers.keys()) {
      const agents = await this.store.agents({ root_id });
      const tree = await this.store.tree(root_id);
      const living = agents.filter(({ state }) => !isTerminal(state.type));
      const byId = new Map(agents.map((agent) => [agent.id, agent]));
      assert.deepEqual([tree?.live, tree?.total], [living.length, agents.length], 'law 7: counters are true');
      assert.ok(agents.length <= LIMITS.total, 'law 7');
      for (const agent of living) {
        assert.ok(agent.depth <= LIMITS.depth, 'law 7');
        for (let up = agent.parent_id; up !== null; up = byId.get(up)?.parent_id ?? null)
          assert.notEqual(byId.get(up)?.state.type, 'killed', 'law 9: nobody lives below a killed agent');
      }
      const stored = agents.map(({ id, state, epoch, last_seq, mail_count }) => [
        id,
        state.type,
        epoch,
        last_seq,
        mail_count,
      ]);
      const expected = this.model
        .members(root_id)
        .map((agent) => [agent.id, agent.type, agent.epoch, this.model.lastSeq(agent), agent.mail.length]);
      assert.deepEqual(stored.toSorted(), expected.toSorted());
    }
  }

  async checkAll(): Promise<void> {
    for (const agent of this.model.agents.values()) {
      const history = await this.store.history(agent.id);
      assert.deepEqual(
        history.map(({ seq }) => seq),
        [...history.keys()].map((place) => place + 1),
        'law 11',
      );
      const contents = history.map((one) => (one.kind === 'event' ? 'killed' : JSON.stringify(one.content)));
      assert.deepEqual(
        contents,
        this.model.history(agent),
        'law 11: a history is its ancestors, then its own',
      );
      const mail = await this.store.mail(agent.id, true);
      assert.deepEqual(
        mail.map(({ number }) => number),
        [...mail.keys()].map((place) => place + 1),
        'law 11',
      );
      const letters = mail.map(({ id, kind, consumed_seq }) => ({ id, kind, consumed_seq }));
      assert.deepEqual(
        letters,
        agent.mail,
        'law 6: each letter once, in order, consumed where the model says',
      );
      const waiters = [...this.model.agents.values()].filter(({ waits }) => waits.includes(agent.id));
      assert.deepEqual(
        (await this.store.waiters(agent.id)).toSorted(),
        waiters.map(({ id }) => id).toSorted(),
      );
      // A wait with a time limit may be part of a cycle with waits that outlast it.
      const endless = agent.waits.filter((target) => agent.waits_until[target] === undefined);
      assert.ok(!endless.some((target) => this.model.reaches(target, agent.id)), 'law 10: no cycle');
    }
  }
}

function reasonOf(verdict: Verdict): string {
  return verdict.ok ? 'accepted' : verdict.refusal.reason;
}

function kindOf(verdict: Verdict): string {
  if (verdict.ok) return 'accepted';
  return verdict.refusal.reason === 'limit' ? `limit of ${verdict.refusal.limit}` : verdict.refusal.reason;
}
