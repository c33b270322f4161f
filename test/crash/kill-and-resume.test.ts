// Proves that a run killed with SIGKILL at random moments and resumed ends with the right answer, each mail consumed once, no gap in any `seq`, and no call
// silently repeated.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import { openStore } from '../../src/store/open-store.ts';
import { makeHome } from '../cli/run-cli.ts';
import { DEEP } from '../house/deep.ts';
import { answerFor, forkingBrain } from '../servers/forking-brain.ts';
import { startOpenAiChatServer } from '../servers/openai-chat-server.ts';
import { countLines, killAndResume, room } from './killed-run.ts';

const ROUNDS = DEEP ? 6 : 1;
const CHILDREN = 25;

it(`${ROUNDS} runs of ${CHILDREN} children, killed up to four times each`, async (context) => {
  let [kills, interrupted] = [0, 0];
  for (let round = 0; round < ROUNDS; round += 1) {
    const home = makeHome();
    const server = await startOpenAiChatServer({ answer: forkingBrain, record: false });
    home.configure({ providers: { local: { type: 'openai-compatible', baseURL: `${server.url}/v1` } } });
    const run = ['run', `FORK ${CHILDREN}`, '--yes', ...room(CHILDREN)];
    const terms = { most_kills: 4, after_ms: [200, 700] } as const;
    const killed = await killAndResume(home, run, ['--model', 'local/m', '--json'], terms);
    kills += killed.kills;
    assert.equal(killed.reply, answerFor(CHILDREN));
    interrupted += await check(home.database, join(home.work, 'effects.log'), CHILDREN);
    await server.close();
  }
  context.diagnostic(`${kills} kills, ${interrupted} calls reported as interrupted`);
  assert.ok(kills >= ROUNDS, `the faults must fire: only ${kills} kills`);
});

/** Checks the ledger and the effects; returns the number of calls reported as interrupted. */
async function check(database: string, effects: string, children: number): Promise<number> {
  const store = await openStore(database);
  const agents = await store.agents({});
  assert.equal(agents.length, children + 1, 'every child exists once');
  const root = agents.find((agent) => agent.parent_id === null);
  const mail = await store.mail(root?.id ?? '', true);
  assert.equal(new Set(mail.map((one) => one.from_id)).size, children);
  assert.equal(mail.length, children, 'every child wrote once');
  assert.ok(
    mail.every((one) => one.consumed_seq !== null),
    'every letter was delivered',
  );
  assert.deepEqual(
    mail.map((one) => one.number),
    Array.from({ length: children }, (_, index) => index + 1),
  );
  let interrupted = 0;
  const allowed = new Map<string, number>();
  for (const agent of agents) {
    const own = (await store.history(agent.id)).filter((message) => message.agent_id === agent.id);
    const from = agent.forked_from?.seq ?? 0;
    assert.deepEqual(
      own.map((message) => message.seq),
      own.map((_, index) => from + 1 + index),
      'no gap in seq',
    );
    const lost = own.filter(
      (message) => message.kind === 'result' && message.content.status === 'interrupted',
    ).length;
    interrupted += lost;
    allowed.set(agent.name, lost);
  }
  const ran = countLines(effects);
  for (let index = 0; index < children; index += 1) {
    const runs = [0, 1, 2].map((step) => ran.get(`c${index}-${step}`) ?? 0);
    assert.ok(
      runs.every((count) => count >= 1),
      `c${index} ran ${runs}`,
    );
    const repeated = runs.reduce((sum, count) => sum + count - 1, 0);
    assert.ok(
      repeated <= (allowed.get(`c${index}`) ?? 0),
      `c${index}: ${repeated} calls were silently run again`,
    );
  }
  await store.close();
  return interrupted;
}
