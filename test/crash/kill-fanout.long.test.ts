// Proves that a fan-in survives SIGKILL of its process: every result exactly once and in order, even with children that hang, fail and flood.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { openStore } from '../../src/store/open-store.ts';
import { makeHome } from '../cli/run-cli.ts';
import { countLines, killAndResume, room } from './killed-run.ts';

const COUNT = 60;
const FLOOD = 'flood '.repeat(175_000);
/** Indexes of the children that misbehave. */
const [HANGS, FAILS, FLOODS, BREAKS] = [1, 2, 3, 4];

function outcomeOf(place: number): object {
  if (place === HANGS)
    return {
      failure: {
        error: 'limit reached: run time of 3 s',
        error_kind: 'timed_out',
      },
    };
  if (place === FAILS) return { failure: { error: 'too hard', error_kind: 'sub_agent_error' } };
  if (place === FLOODS) return { success: { result: FLOOD } };
  if (place === BREAKS)
    return {
      failure: {
        error: 'no rule of rules.json matches agent "c4" at step 0: "break"',
        error_kind: 'bad_request',
      },
    };
  return { success: { result: `result of c${place}` } };
}

const taskOf = (place: number): string =>
  ({ [HANGS]: 'hang', [FAILS]: 'fail', [FLOODS]: 'flood', [BREAKS]: 'break' })[place] ?? `work ${place}`;

it('sixty children by two calls with a command between them, killed up to six times', async (context) => {
  const home = makeHome();
  const task = (place: number) => ({
    task: taskOf(place),
    label: `c${place}`,
    ...(place === HANGS ? { timeout_seconds: 3 } : {}),
  });
  const tasks = Array.from({ length: COUNT }, (_, place) => task(place));
  const half = Math.floor(COUNT / 2);
  const spawn = (some: readonly object[]) => ({ name: 'spawn_agents', input: { tasks: some } });
  const effect = (name: string) => ({
    name: 'bash',
    input: { command: `echo ${name} >> effects.log; sleep 0.1` },
  });
  const rules = [
    {
      when: { root: true, step: 0 },
      calls: [spawn(tasks.slice(0, half)), effect('root'), spawn(tasks.slice(half))],
    },
    { when: { root: true, user: '^\\{"sub_agent_results"' }, say: 'all told' },
    { when: { user: '^hang' }, delay_ms: 600_000, say: 'never' },
    { when: { user: '^fail' }, calls: [{ name: 'submit_error', input: { error: 'too hard' } }] },
    { when: { user: '^flood' }, calls: [{ name: 'submit_result', input: { result: FLOOD } }] },
    { when: { user: '^work', step: 0 }, calls: [effect('{{agent.name}}')] },
    {
      when: { user: '^work' },
      delay_ms: 60,
      calls: [{ name: 'submit_result', input: { result: 'result of {{agent.name}}' } }],
    },
  ];
  writeFileSync(join(home.work, 'rules.json'), JSON.stringify({ rules }));
  const run = ['run', 'begin', '--yes', '--toolset', 'fanout', ...room(COUNT)];
  const terms = { most_kills: 6, after_ms: [300, 1_200] } as const;
  const { kills, reply } = await killAndResume(
    home,
    run,
    ['--model', 'scripted:rules.json', '--json'],
    terms,
  );
  context.diagnostic(`${kills} kills`);
  assert.equal(reply, 'all told');
  await check(home.database, join(home.work, 'effects.log'), COUNT);
  assert.ok(kills >= 1, 'the faults must fire');
});

async function check(database: string, effects: string, count: number): Promise<void> {
  const store = await openStore(database);
  const agents = await store.agents({});
  assert.equal(agents.length, count + 1, 'every child exists once');
  const root = agents.find((agent) => agent.parent_id === null);
  assert.ok(root);
  const texts = (await store.history(root.id)).flatMap((message) =>
    message.kind === 'user' && message.content.origin === 'system' ? [message.content.text] : [],
  );
  const [told, ...more] = texts.filter((text) => text.startsWith('{"sub_agent_results"'));
  assert.deepEqual(more, [], 'told once');
  const rows = JSON.parse(told ?? '') as {
    sub_agent_results: { agent_id: string; task: string; outcome: object; did?: string }[];
  };
  const ids = new Map(agents.map((agent) => [agent.name, agent.id]));
  assert.deepEqual(
    rows.sub_agent_results.map(({ did: _, ...row }) => row),
    Array.from({ length: count }, (_, place) => ({
      agent_id: ids.get(`c${place}`),
      task: `c${place}`,
      outcome: outcomeOf(place),
    })),
  );
  for (const { did = '1 tool call' } of rows.sub_agent_results) assert.match(did, /^1 tool call/);
  const mail = await store.mail(root.id, true);
  assert.equal(mail.length, count, 'each child reported once');
  assert.deepEqual(await store.mail(root.id), []);
  for (const [name, times] of countLines(effects)) assert.equal(times, 1, `${name} was silently run again`);
  await store.close();
}
