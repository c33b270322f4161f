// Proves the laws of replay on the ledger (docs/workflows.md#laws), for generated scripts whose process is lost between any two steps, again and again: every call is
// recorded once, every agent works once, the whole conversation replays to the same calls and the same result, and where the order of results does not matter,
// the result is that of an undisturbed run.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { scriptModel } from '../../src/models/workflow/script-model.ts';
import type { Agent } from '../../src/records/agent/agent.ts';
import { promptOf } from '../../src/records/conversation/prompt.ts';
import type { Store } from '../../src/store/store.ts';
import { DEEP } from '../house/deep.ts';
import { type Database, onBothDatabases } from '../runtime/both-databases.ts';
import { type Play, type Stage, setStage } from '../runtime/stage.ts';
import { until } from '../until.ts';
import { arbitraryBody } from './arbitrary-script.ts';
import { termsOf, workflowHost } from './staged-workflow.ts';

const INNER = "const got = await parallel([() => agent('a'), () => agent('c')]); return got.length";
/** Results of these depend on which result came first, or when. */
const ORDERED = /race\(|any\(|Date\.now|Math\.random\(\) <|budget\.spent/;

/** `b` fails for good; the others answer. */
const play: Play = ({ user }) => (user === 'b' ? { text: '', finish: 'refused' } : `did ${user}`);

/** A store that commits so many times; afterwards its process is as good as dead: nothing more of it reaches the ledger. */
function dyingStore(
  store: Store,
  commits: number,
): { readonly store: Store; readonly isDead: () => boolean; readonly spare: () => void } {
  let left = commits;
  const commit: Store['commit'] = async (steps) => {
    left -= 1;
    if (left < 0) throw new Error('the process is dead');
    return store.commit(steps);
  };
  const dying = new Proxy(store, {
    get(target, name) {
      if (name === 'commit') return commit;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  const spare = () => {
    left = Number.POSITIVE_INFINITY;
  };
  return { store: dying, isDead: () => left < 0, spare };
}

let kills = 0;

/** Runs the script; its process is lost after so many commits each time. */
async function ran(database: Database, body: string, lives: readonly number[]) {
  let life: Pick<ReturnType<typeof dyingStore>, 'isDead' | 'spare'> = {
    isDead: () => false,
    spare: () => undefined,
  };
  const dies = (commits: number) => ({
    wrap: (store: Store) => {
      const dying = dyingStore(store, commits);
      life = dying;
      return dying.store;
    },
  });
  const [first = Number.POSITIVE_INFINITY, ...others] = lives;
  const terms = termsOf(body.replaceAll('sleep(1)', 'sleep(0.01)'));
  let stage: Stage = await setStage(play, {
    ...{ database: await database(), config: { workflow: terms } },
    ...{ workflows: workflowHost({ inner: INNER }), ...dies(first) },
  });
  const { id } = await stage.start();
  const hasEnded = async () => (await stage.store.agent(id))?.state.type === 'idle';
  for (const commits of [...others, Number.POSITIVE_INFINITY]) {
    await until(async () => life.isDead() || (await hasEnded()), 'the run ends or its process dies');
    if (!life.isDead()) {
      // What others of the tree still commit must not be lost with a process that nobody replaces.
      life.spare();
      break;
    }
    kills += 1;
    stage = await stage.reopen(undefined, dies(commits));
    await stage.runtime.resume(id, { unattended: true });
  }
  const { root, reply, agents } = await stage.runtime.settled(id).then(async (outcome) => ({
    ...outcome,
    root: (await stage.store.agent(id)) as Agent,
  }));
  const history = await stage.store.history(id);
  await stage.close();
  return { root, terms, history, agents, reply: String(reply) };
}

type Ran = Awaited<ReturnType<typeof ran>>;

const callsOf = ({ history }: Ran) =>
  history.flatMap(({ kind, content }) =>
    kind === 'assistant' ? content.parts.filter((part) => part.type === 'call') : [],
  );
const asked = (one: Ran) => callsOf(one).filter(({ name }) => !['next', 'skip'].includes(name));

/** Law 5 of runs: from its conversation alone, without its last answer, another process gets to the same answer. */
async function replayed({ root, terms, history, reply }: Ran): Promise<void> {
  const last = history.findLastIndex(({ kind }) => kind === 'assistant');
  const model = scriptModel(root, terms);
  const outcome = await model.stream(
    {
      ...{ agent: root, system: '', tools: [], thinking: 'off', shared_prefix: 0 },
      messages: promptOf(history.slice(0, last)).messages(),
      signal: new AbortController().signal,
    } as never,
    () => undefined,
  );
  await model.close?.();
  assert.equal(outcome.type, 'answer', JSON.stringify(outcome));
  const text = outcome.content.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  assert.equal(text, reply);
}

onBothDatabases('a generated script whose process is lost', (database) => {
  it('does the same as one that is left in peace', { timeout: DEEP ? 1_200_000 : 120_000 }, async () => {
    const lives = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 });
    const property = fc.asyncProperty(arbitraryBody, lives, async (body, numbers) => {
      const killed = await ran(database, body, numbers);
      const ids = asked(killed).map(({ id }) => id);
      assert.deepEqual(
        ids,
        ids.map((_, index) => `call-${index + 1}`),
        'each call once, in order',
      );
      const agents = asked(killed).filter(({ name }) => name === 'agent');
      const started = killed.agents.filter(
        ({ parent_id, config }) => parent_id === killed.root.id && config.workflow === undefined,
      );
      assert.equal(started.length, agents.length, 'an agent for each call');
      await replayed(killed);
      if (ORDERED.test(body)) return;
      const peaceful = await ran(database, body, []);
      assert.equal(killed.reply, peaceful.reply);
      const keys = (one: Ran) => asked(one).map(({ input }) => (JSON.parse(input) as { key: string }).key);
      assert.deepEqual(keys(killed).sort(), keys(peaceful).sort());
    });
    await fc.assert(property, { numRuns: DEEP ? 200 : 6, endOnFailure: !DEEP });
    assert.ok(kills > 0, 'the faults must fire');
  });
});
