// Proves, on both databases, that a large fan-in takes its parent few steps and loses nothing: outcomes that wait in the mailbox survive a restart,
// and a turn that is stopped by a person or by its run time gets all outcomes so far.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Agent } from '../../../src/records/agent/agent.ts';
import { until } from '../../until.ts';
import { onBothDatabases, stagesOn } from '../both-databases.ts';
import { HandClock } from '../hand-clock.ts';
import type { Play, Stage } from '../stage.ts';

const CHILDREN = 200;
/** Children that report at once: fewer than half, so their outcomes wait in the mailbox. */
const EARLY = 80;
const LIMITS = { children: CHILDREN, live: CHILDREN + 1, total: CHILDREN + 1 };

function playOf(gate: Promise<void>): Play {
  return async ({ name, step, user }) => {
    if (name === 'main') {
      if (step === 0)
        return [
          [
            'spawn_agents',
            { tasks: Array.from({ length: CHILDREN }, (_, index) => ({ task: `part ${index}` })) },
          ],
        ];
      return `${outcomes(user).filter((outcome) => outcome.success !== undefined).length} results`;
    }
    if (Number(name.slice('part-'.length)) >= EARLY) await gate;
    return [['submit_result', { result: `result of ${name}` }]];
  };
}

interface Outcome {
  readonly success?: { readonly result: string };
}

function outcomes(text: string): Outcome[] {
  if (!text.startsWith('{"sub_agent_results"')) return [];
  const { sub_agent_results } = JSON.parse(text) as { sub_agent_results: { outcome: Outcome }[] };
  return sub_agent_results.map(({ outcome }) => outcome);
}

/** The outcomes in the parent's conversation. */
async function told(on: Stage, root: Agent): Promise<Outcome[]> {
  const messages = await on.store.history(root.id);
  return messages.flatMap((message) => (message.kind === 'user' ? outcomes(message.content.text) : []));
}

const never = new Promise<void>(() => {});

onBothDatabases('large fan-in', (database) => {
  const stage = stagesOn(database, { toolsets: ['fanout'] });

  /** Starts the root and resolves when the early outcomes are in its mailbox, not yet consumed. */
  async function begun(on: Stage, limits = {}): Promise<Agent> {
    const root = await on.start('go', { ...LIMITS, ...limits });
    await until(async () => (await on.store.mail(root.id)).length === EARLY, 'the early ones have reported');
    const { state } = (await on.store.agent(root.id)) as Agent;
    assert.ok(state.type === 'awaiting' && state.results.length === 0 && state.pending.length === CHILDREN);
    return root;
  }

  it('all results come in the order of the tasks, in a few steps of the parent', async () => {
    const on = await stage(playOf(Promise.resolve()));
    const { root, reply } = await on.perform('go', LIMITS);
    assert.equal(reply, `${CHILDREN} results`);
    assert.deepEqual(
      (await told(on, root)).map((outcome) => outcome.success?.result),
      Array.from({ length: CHILDREN }, (_, index) => `result of part-${index}`),
    );
    const steps = on.events.filter((event) => event.type === 'agent' && event.agent.id === root.id);
    assert.ok(steps.length < 20, `${steps.length} steps`);
    assert.deepEqual(await on.store.mail(root.id), []);
  });

  it('outcomes waiting in the mailbox survive a restart, each once', async () => {
    const on = await stage(playOf(never));
    const root = await begun(on);
    const again = await on.reopen(playOf(Promise.resolve()));
    await again.runtime.resume(root.id);
    const { reply } = await again.runtime.settled(root.id);
    assert.equal(reply, `${CHILDREN} results`);
    const results = (await told(again, root)).map((outcome) => outcome.success?.result);
    assert.equal(new Set(results).size, CHILDREN);
  });

  it('a stop by a person returns the results so far', async () => {
    const on = await stage(playOf(never));
    const root = await begun(on);
    await on.runtime.interrupt(root.id, 'enough');
    await on.runtime.settled(root.id);
    const all = await told(on, root);
    assert.equal(all.length, CHILDREN);
    assert.equal(all.filter((outcome) => outcome.success !== undefined).length, EARLY);
    assert.equal((await on.store.tree(root.id))?.live, 1);
  });

  it('at the end of the run time the last answer gets the results so far', async () => {
    const clock = new HandClock();
    const on = await stage(playOf(never), { clock });
    const root = await begun(on, { run_ms: 60_000 });
    clock.pass(45_000);
    await on.runtime.settled(root.id);
    const all = await told(on, root);
    assert.equal(all.length, CHILDREN);
    assert.equal(all.filter((outcome) => outcome.success !== undefined).length, EARLY);
  });
});
