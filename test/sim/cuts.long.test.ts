// Proves that any simulated run, with every fault and every vocabulary, can be cut at any message: every law holds in the new tree, no agent has read what is not
// there, every agent that is waited for exists, and the old tree is untouched.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { it } from 'node:test';
import { waitEdges } from '../../src/kernel/mailbox/wait-edges.ts';
import { isTerminal, isWorking } from '../../src/records/agent/state.ts';
import type { Store } from '../../src/store/store.ts';
import { rewindTree } from '../../src/trees/rewind/rewind-tree.ts';
import { DEEP } from '../house/deep.ts';
import { Random } from './random.ts';
import { simulate } from './simulate.ts';

const SEEDS = DEEP ? 60 : 16;
const CUTS = DEEP ? 60 : 20;

async function assertLawfulCut(store: Store, old_root: string, root_id: string, to: string): Promise<void> {
  const agents = await store.agents({ root_id });
  const byId = new Map(agents.map((agent) => [agent.id, agent]));
  const old = new Map((await store.agents({ root_id: old_root })).map((agent) => [agent.id, agent]));
  const places = new Map(agents.map(({ was, last_seq }) => [was?.[0] as string, last_seq]));
  const why = (what: string) => `${what}, cut at ${to}`;
  const tree = await store.tree(root_id);
  assert.equal(tree?.total, agents.length, why('law 7'));
  assert.equal(tree?.live, agents.filter(({ state }) => !isTerminal(state.type)).length, why('law 7'));
  for (const { id, was = [], state, parent_id, last_seq, name, origin, mail_count, ...rest } of agents) {
    const history = await store.history(id);
    const seqs = Array.from({ length: last_seq }, (_, at) => at + 1);
    assert.deepEqual(
      history.map(({ seq }) => seq),
      seqs,
      why(`law 11: ${name}`),
    );
    const whole = (await store.history(was[0] as string)).slice(0, last_seq);
    assert.deepEqual(
      history.map(({ content }) => content),
      whole.map(({ content }) => content),
      why(name),
    );
    if (parent_id !== null) {
      const parent = byId.get(parent_id);
      assert.ok(parent !== undefined, why(`${name} has no parent`));
      if (parent.state.type === 'killed') assert.ok(isTerminal(state.type), why('law 9'));
    }
    for (const target of waitEdges(state)) {
      assert.ok(byId.has(target), why(`${name} waits for nobody`));
      assert.ok((await store.waiters(target)).includes(id), why('law 10'));
    }
    if (state.type === 'executing')
      assert.ok(state.running.length + state.queued.length > 0, why(`${name} executes nothing`));
    if (state.type === 'awaiting') assert.ok(state.pending.length > 0, why(`${name} awaits nobody`));
    // Law 5: what has no result is in the state, and nothing else is.
    const answer = history.findLast((one) => one.kind === 'assistant' && one.agent_id === id);
    if (answer?.kind === 'assistant' && isWorking(state.type)) {
      const open = new Set(answer.content.parts.flatMap((part) => (part.type === 'call' ? [part.id] : [])));
      for (const one of history)
        if (one.kind === 'result' && one.seq > answer.seq) open.delete(one.content.call_id);
      const known =
        state.type === 'executing'
          ? [...state.running.map(({ call }) => call.id), ...state.queued.map((call) => call.id)]
          : [];
      assert.deepEqual([...open].sort(), [...new Set(known)].sort(), why(`law 5: ${name} ${state.type}`));
    }
    // Law 6: letters that were read are in the cut with their sender, the others are unread.
    const before = await store.mail(was[0] as string, true);
    const unread = await store.mail(id, true);
    assert.equal(unread.length, mail_count, why('law 6'));
    for (const letter of before) {
      const { from_id, consumed_seq, kind } = letter;
      const read =
        consumed_seq !== null && consumed_seq > 0 && consumed_seq <= last_seq && kind !== 'outcome';
      if (!read || from_id === null || !old.has(from_id)) continue;
      assert.ok(places.has(from_id), why(`${name} has read a letter of nobody`));
    }
    if (isTerminal(state.type) || origin === 'root') continue;
    assert.equal(rest.worker, null, why('somebody leads it'));
  }
}

it('any run can be cut anywhere', async () => {
  let cuts = 0;
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const random = new Random(`cuts ${seed}`);
    const report = await simulate(seed, {
      tasks: seed % 2 === 0,
      onRest: async (store) => {
        const agents = (await store.agents({})).filter(
          ({ last_seq, forked_from }) => last_seq > (forked_from?.seq ?? 0),
        );
        for (let cut = 0; cut < CUTS && agents.length > 0; cut += 1) {
          const { id, root_id, forked_from, last_seq } = random.pick(agents);
          const seq = random.between((forked_from?.seq ?? 0) + 1, last_seq);
          const to = `${random.chance(0.3) ? 'before ' : ''}${id}#${seq}`;
          const root = await store.agent(root_id);
          const done = await rewindTree(store, root as never, { to }, randomUUID(), tmpdir()).catch(
            (error: Error) => {
              if (/nothing (?:comes|is)|there is nothing before/.test(error.message)) return null;
              throw error;
            },
          );
          if (done === null) continue;
          await assertLawfulCut(store, root_id, done.root_id as string, to);
          cuts += 1;
        }
      },
    });
    assert.deepEqual(report.failures, [], `seed ${seed}`);
  }
  assert.ok(cuts > SEEDS * CUTS * 0.6, `${cuts} cuts`);
});
