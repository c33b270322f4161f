// Proves the story of a quota in the middle of a workflow of 344 agents: all wait, the process is started again, the quota resets, and there are 344 results, each agent's
// requests were answered exactly once, and no agent counts as failed or refuted because of it; in this process on both databases, and as a whole process.
import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { pauseOf } from '../../src/records/conversation/parked.ts';
import { openStore } from '../../src/store/open-store.ts';
import { alwaysOnBothDatabases } from '../runtime/both-databases.ts';
import { HandClock } from '../runtime/hand-clock.ts';
import { limitedServer, REFUSALS } from '../runtime/quota/limited-server.ts';
import { setStage } from '../runtime/stage.ts';
import { startOpenAiChatServer } from '../servers/openai-chat-server.ts';
import { until } from '../until.ts';
import { workflowHome } from './run-workflow.ts';
import { termsOf, workflowHost } from './staged-workflow.ts';

const AGENTS = 344;
/** Half of the agents find claims, and each claim has a refuter, which says nothing if it dies: silence is not to count as "refuted". */
const BODY = `
const found = await parallel([...Array(${AGENTS / 2}).keys()].map((n) => async () => {
  const claim = await agent('find ' + n, { phase: 'Find' })
  const verdict = await agent('refute ' + claim, { phase: 'Refute' })
  return { claim, refuted: verdict === null }
}))
return { results: found.length, claims: new Set(found.map((one) => one?.claim)).size, refuted: found.filter((one) => one === null || one.refuted).length, failures: agent.failures() }`;
const WANTED = { results: AGENTS / 2, claims: AGENTS / 2, refuted: 0, failures: [] };

/** Answers, and counts for each prompt how often it was answered. */
function counting() {
  const answered = new Map<string, number>();
  return {
    answered,
    answer(prompt: string): string {
      answered.set(prompt, (answered.get(prompt) ?? 0) + 1);
      return prompt.replace(/^find /, 'claim ').replace(/^refute /, 'upheld ');
    },
    check() {
      assert.equal(answered.size, AGENTS);
      assert.deepEqual(
        [...answered].filter(([, times]) => times !== 1),
        [],
      );
    },
  };
}

alwaysOnBothDatabases('344 agents of a workflow and a limit in the middle', (database) => {
  it('finish after it, each asked once', { timeout: 180_000 }, async () => {
    const { answer, check, answered } = counting();
    const clock = new HandClock();
    const server = await limitedServer(({ messages }) => ({ text: answer(messages.at(-1)?.text ?? '') }));
    server.refuse('key-one', REFUSALS.hour, 200);
    const stage = await setStage(() => 'unused', {
      ...{ database: await database(), models: await server.models(clock.now), clock },
      // As many at once as a process with enough memory lets begin.
      terms: { runs: { max_concurrent: AGENTS, per_source: { cron: 8, subagent: AGENTS, delegate: 100 } } },
      ...{ workflows: workflowHost(), config: { model: 'one/any', workflow: termsOf(BODY) } },
    });
    const { id } = await stage.start();
    const allWait = async (of: typeof stage) => {
      const agents = await of.store.agents({ root_id: id });
      // Nobody is queued: what has begun afterwards would still ask.
      const rest = agents.filter(({ id: agent_id, state }) => agent_id !== id && state.type !== 'completed');
      // Nor will the script start another: each claim that was found has its refuter.
      const phases = agents.flatMap(({ config, state }) =>
        config.task?.workflow === undefined ? [] : [[config.task.workflow.phase, state.type]],
      );
      const found = phases.filter(([phase, state]) => phase === 'Find' && state === 'completed').length;
      const is_whole = phases.length === AGENTS / 2 + found;
      return is_whole && rest.length > 0 && rest.every(({ state }) => pauseOf(state) !== null);
    };
    await until(() => allWait(stage), 'all wait');
    const sent = server.asked.length;
    assert.equal(answered.size, 200);
    const next = await stage.reopen(undefined, { models: await server.models(clock.now) });
    await next.runtime.resume(id, { unattended: true });
    await until(() => allWait(next), 'all wait again');
    assert.equal(server.asked.length, sent, 'nothing was sent by the second process');
    server.allow('key-one');
    clock.pass(3_700_000);
    const { reply, agents } = await next.runtime.settled(id);
    assert.deepEqual(JSON.parse(String(reply)), WANTED);
    assert.equal(agents.filter(({ config }) => config.task?.workflow !== undefined).length, AGENTS);
    check();
  });
});

it('344 agents of a workflow finish after a quota and a restart, as whole processes', {
  timeout: 180_000,
}, async () => {
  const { answer, check, answered } = counting();
  // After the restart the limit goes on a little from the first request on, and less than the two seconds that it names.
  let [is_restarted, tried_at, refused] = [false, 0, 0];
  const isLimited = (): boolean => {
    if (!is_restarted) return answered.size >= 200;
    if (tried_at === 0) tried_at = performance.now();
    return performance.now() - tried_at < 1_500;
  };
  const server = await startOpenAiChatServer({
    answer: async ({ messages }) => {
      if (isLimited()) {
        if (is_restarted) refused += 1;
        return { fault: REFUSALS.soon };
      }
      return { text: answer(messages.at(-1)?.text ?? '') };
    },
    record: false,
  });
  after(() => server.close());
  const home = workflowHome([], {
    model: 'local/any',
    providers: { local: { type: 'openai-compatible', baseURL: `${server.url}/v1` } },
  });
  const script = home.script('story', BODY);
  const first = home.start(['workflow', 'run', script, '--yes', '--json']);
  const paused = async () => {
    const store = await openStore(home.database);
    try {
      return (await store.agents({})).filter(({ state }) => pauseOf(state) !== null).length;
    } finally {
      await store.close();
    }
  };
  await until(async () => answered.size === 200 && (await paused()) > 50, 'the limit is reached');
  first.child.kill('SIGKILL');
  await first.ended;
  is_restarted = true;
  const { code, stdout, stderr } = await home.start(['resume', '--json']).ended;
  assert.equal(code, 0, stderr);
  assert.equal(refused, 1, 'one request found out');
  assert.deepEqual(JSON.parse((JSON.parse(stdout) as { reply: string }).reply), WANTED);
  check();
});
