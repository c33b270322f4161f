// Proves that background runs survive SIGKILL of the process that leads them: each end is announced exactly once, queued runs still start, cleanup follows.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { openStore } from '../../src/store/open-store.ts';
import { makeHome } from '../cli/run-cli.ts';
import { bare } from '../runtime/stage.ts';
import { killAndResume, room } from './killed-run.ts';

const COUNT = 100;
const FLOOD = 'flood '.repeat(30_000);
const LATE = 'limit reached: run time of 3 s';

/** The exact announcement that the requester of a run must get. */
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

it('a hundred runs, eight at a time, killed up to four times', async (context) => {
  const labels = Array.from({ length: COUNT }, (_, index) => `run-${index}`);
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
  const run = ['run', 'begin', '--toolset', 'sessions', ...room(COUNT)];
  const terms = { most_kills: 4, after_ms: [300, 1_200] } as const;
  const { kills } = await killAndResume(home, run, ['--model', 'scripted:rules.json', '--json'], terms);
  context.diagnostic(`${kills} kills`);
  await check(home.database, labels);
  assert.ok(kills >= 1, 'the faults must fire');
});

async function check(database: string, labels: readonly string[]): Promise<void> {
  const store = await openStore(database);
  const [root] = await store.agents({ conversations: true });
  assert.ok(root);
  const told = (await store.history(root.id)).flatMap((message) =>
    message.kind === 'user' && message.content.origin === 'system' ? [bare(message.content.text)] : [],
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
