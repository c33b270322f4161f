import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openStore } from '../../src/store/open-store.ts';
import { makeHome } from '../cli/run-cli.ts';

const FLOOD = 'flood '.repeat(30_000);
const LATE = 'limit reached: run time of 3 s';

/** What the requester must be told of a run, to the letter. */
function announcementOf(label: string): string {
  const head = `[Subagent: ${label}]`;
  if (label === 'run-1') return `${head} Timed out: ${LATE}`;
  if (label === 'run-2')
    return `${head} Failed: no rule of rules.json matches agent "run-2" at step 0: "fail"`;
  return `${head} Complete.\n\n${label === 'run-3' ? FLOOD : `result of do ${label}`}`;
}

function taskOf(label: string): string {
  return { 'run-1': 'hang', 'run-2': 'fail', 'run-3': 'flood' }[label] ?? `do ${label}`;
}

/**
 * One `coppice run` whose root starts `count` background runs, eight at a time: one hangs until its time is up, one fails, one floods.
 * The process is killed with SIGKILL at random moments and its tree resumed until it ends. Checks that each end was announced exactly
 * once, in its own words, that the history is complete, and that every other conversation is deleted. Returns how often it was killed.
 */
export async function killSessions(count: number, most_kills: number, random: () => number): Promise<number> {
  const labels = Array.from({ length: count }, (_, index) => `run-${index}`);
  const home = makeHome();
  const calls = labels.map((label, index) => ({
    name: 'sessions_spawn',
    input: {
      task: taskOf(label),
      label,
      cleanup: index % 2 === 0 ? 'delete' : 'keep',
      ...(label === 'run-1' ? { timeoutSeconds: 3 } : {}),
    },
  }));
  const rules = [
    { when: { root: true, step: 0 }, calls },
    { when: { root: true }, say: 'heard' },
    { when: { user: '^hang' }, delay_ms: 600_000, say: 'never' },
    { when: { user: '^flood' }, say: FLOOD },
    { when: { user: '^do ' }, delay_ms: 60, say: 'result of {{user}}' },
  ];
  writeFileSync(join(home.work, 'rules.json'), JSON.stringify({ rules }));
  const limits = [`children=${count}`, `live=${count + 1}`, `total=${count + 1}`];
  const first = ['run', 'begin', '--toolset', 'sessions', ...limits.flatMap((limit) => ['--limit', limit])];
  const model = ['--model', 'scripted:rules.json', '--json'];
  let kills = 0;
  for (let ended = false; !ended; ) {
    const begun = existsSync(home.database) && (await hasRoot(home.database));
    const { child, ended: end } = home.start([...(begun ? ['resume'] : first), ...model]);
    const timer =
      kills < most_kills ? setTimeout(() => child.kill('SIGKILL'), 300 + random() * 900) : undefined;
    const result = await end;
    clearTimeout(timer);
    ended = result.signal !== 'SIGKILL';
    if (ended) assert.equal(result.code, 0, result.stderr);
    else kills += 1;
  }
  await check(home.database, labels);
  home.remove();
  return kills;
}

async function hasRoot(database: string): Promise<boolean> {
  const store = await openStore(database);
  const roots = await store.agents({ conversations: true });
  await store.close();
  return roots.length > 0;
}

async function check(database: string, labels: readonly string[]): Promise<void> {
  const store = await openStore(database);
  const [root] = await store.agents({ conversations: true });
  assert.ok(root);
  const told = (await store.history(root.id)).flatMap((message) =>
    message.kind === 'user' && message.content.origin === 'system' ? [message.content.text] : [],
  );
  assert.deepEqual(told.toSorted(), labels.map(announcementOf).toSorted(), 'each end was announced once');
  assert.deepEqual(await store.mail(root.id), []);
  const runs = (await store.runs({ root_id: root.id })).toReversed();
  assert.deepEqual(
    runs.map((run) => [run.label, run.status]),
    labels.map((label) => [label, { 'run-1': 'timeout', 'run-2': 'failed' }[label] ?? 'completed']),
  );
  const left = new Set((await store.agents({ parent_id: root.id })).map((agent) => agent.id));
  for (const run of runs) assert.equal(left.has(run.agent_id), run.cleanup === 'keep', run.label ?? run.id);
  await store.close();
}
