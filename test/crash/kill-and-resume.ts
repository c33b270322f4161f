import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openStore } from '../../src/store/open-store.ts';
import { makeHome } from '../cli/run-cli.ts';
import { answerFor, forkingBrain } from '../servers/forking-brain.ts';
import { startOpenAiChatServer } from '../servers/openai-chat-server.ts';

export interface KillReport {
  readonly kills: number;
  readonly interrupted: number;
}

/**
 * One run of `coppice run` with `children` forks on a local server, killed with SIGKILL at random moments and resumed until it ends.
 * Checks the answer, every letter, every place, and that no call was silently run again. `most_kills` bounds the kills of the run.
 */
export async function killAndResume(
  children: number,
  most_kills: number,
  random: () => number,
): Promise<KillReport> {
  const home = makeHome();
  const server = await startOpenAiChatServer({ answer: forkingBrain, record: false });
  home.configure({ providers: { local: { type: 'openai-compatible', baseURL: `${server.url}/v1` } } });
  const args = ['--model', 'local/m', '--json'];
  const first = [
    'run',
    `FORK ${children}`,
    '--yes',
    '--limit',
    `children=${children}`,
    '--limit',
    `live=${children + 1}`,
    '--limit',
    `total=${children + 1}`,
    ...args,
  ];
  let kills = 0;
  let answer: { reply: string; status: string } | null = null;
  while (answer === null) {
    const begun = existsSync(home.database) && (await rootsOf(home.database)) > 0;
    const { child, ended } = home.start(begun ? ['resume', ...args] : first);
    const timer =
      kills < most_kills ? setTimeout(() => child.kill('SIGKILL'), 200 + random() * 500) : undefined;
    const result = await ended;
    clearTimeout(timer);
    if (result.signal === 'SIGKILL') kills += 1;
    else {
      assert.equal(result.code, 0, result.stderr);
      answer = JSON.parse(result.stdout) as { reply: string; status: string };
    }
  }
  assert.equal(answer.reply, answerFor(children));
  const interrupted = await check(home.database, join(home.work, 'effects.log'), children);
  await server.close();
  home.remove();
  return { kills, interrupted };
}

async function rootsOf(database: string): Promise<number> {
  const store = await openStore(database);
  const roots = await store.agents({ conversations: true });
  await store.close();
  return roots.length;
}

/** Returns how many calls were reported as interrupted. */
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
  const ran = new Map<string, number>();
  for (const line of readFileSync(effects, 'utf8').trim().split('\n'))
    ran.set(line, (ran.get(line) ?? 0) + 1);
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
