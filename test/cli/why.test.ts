// Proves `coppice why` as a whole process: an answer, a message, a call, a line of a file; in 80 columns of any terminal; JSON; what is refused.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { makeHome } from './run-cli.ts';

const RULES = [
  {
    when: { root: true, step: 0 },
    calls: [{ name: 'fork', input: { name: 'client', prompt: 'Write down what the client needs.' } }],
  },
  { when: { root: true, step: 1 }, calls: [{ name: 'wait', input: { timeout: 30 } }] },
  { when: { root: true, step: 2 }, calls: [{ name: 'read', input: { path: 'needs.txt' } }] },
  {
    when: { root: true, step: 3 },
    calls: [{ name: 'write', input: { path: 'plan.txt', content: '# Plan\nthe store first\n' } }],
  },
  { when: { root: true }, say: 'The plan is in plan.txt.' },
  {
    when: { agent: 'client', step: 0 },
    calls: [{ name: 'write', input: { path: 'needs.txt', content: 'three calls\n' } }],
  },
  {
    when: { agent: 'client', step: 1 },
    calls: [{ name: 'send', input: { to: '{{parent_id}}', message: 'It needs three calls.\nNo locks.' } }],
  },
  { say: 'done' },
];

const CLIENT = [
  '├ client #6 wrote: It needs three calls. No locks. (read in #5)',
  '│ └ main #2 gave it the task: Write down what the client needs.',
  '│   └ you #1: Plan the store',
];

it('tells what led to an answer, a message, a call and a line of a file', async () => {
  const home = makeHome();
  writeFileSync(join(home.work, 'rules.json'), JSON.stringify({ rules: RULES }));
  await home.run(['run', 'Plan the store', '--model', 'scripted:rules.json', '--allow', '*']);
  const lines = async (...args: readonly string[]) =>
    (await home.run(['why', ...args])).stdout.trimEnd().split('\n');
  const file = [
    '├ client #4 wrote: needs.txt (read in #7)',
    '│ └ main #2 gave it the task: Write down what the client needs.',
    '│   └ you #1: Plan the store',
    '├ client #6 wrote: It needs three calls. No locks. (read in #5)',
    '│ └ main #2 gave it the task: Write down what the client needs. (see above)',
    '└ you #1: Plan the store',
  ];
  assert.deepEqual(await lines(), [
    'main #10: The plan is in plan.txt.',
    '├ #8: write plan.txt → created plan.txt (23 bytes)',
    ...file,
  ]);
  assert.deepEqual(await lines('plan.txt:2'), [
    'plan.txt:2  the store first',
    'main #8: write plan.txt',
    ...file,
  ]);
  assert.deepEqual(await lines('main#6'), ['main #6: read needs.txt', ...CLIENT, '└ you #1: Plan the store']);
  assert.deepEqual(await lines('client#4'), [
    'client #4: write needs.txt',
    '└ main #2 gave it the task: Write down what the client needs.',
    '  └ you #1: Plan the store',
  ]);

  const { stdout } = await home.run(['why', 'plan.txt:2', '--json']);
  const { call_id, steps, whole } = JSON.parse(stdout);
  assert.deepEqual([whole, steps[0].how, steps[1].how, steps[1].led_to], [true, 'asked', 'file', 0]);
  assert.deepEqual(await lines(call_id), (await lines('plan.txt:2')).slice(1));

  // The newest tree of the folder is another one now.
  await home.run(['rewind', '--to', '1']);
  assert.deepEqual(await lines(`${steps[0].agent_id}#${call_id}`), (await lines('plan.txt:2')).slice(1));

  for (const [args, said] of [
    [[call_id], /no agent called ".*", and no call ".*" in the tree \w+; one of another tree is TREE#CALL/],
    [
      ['rules.json:1'],
      /^error: rules\.json:1 .*: It was there before the first change .*, or a command wrote it.*\n.*coppice search rules\.json/,
    ],
    [['plan.txt:9'], /the file has no line 9/],
    [['nobody'], /no agent called "nobody"/],
    [['main#99'], /main has no message 99/],
    [['plan.txt:2', '--server', 'http://127.0.0.1:9'], /in the database of this machine/],
  ] as const) {
    const refused = await home.run(['why', ...args], { env: { COPPICE_TOKEN: 'none' } });
    assert.match(refused.stderr, said);
    assert.notEqual(refused.code, 0);
  }
});
