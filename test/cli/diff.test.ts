// Proves `coppice diff` as a whole process: two runs that are the same, two that differ, the first difference and the table; exit codes as of diff(1); JSON.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { makeHome } from './run-cli.ts';

const rulesOf = (needs: string, steps: number) => [
  {
    when: { root: true, step: 0 },
    calls: [{ name: 'fork', input: { name: 'client', prompt: 'What is needed?' } }],
  },
  { when: { root: true, step: 1 }, calls: [{ name: 'wait', input: { timeout: 30 } }] },
  ...Array.from({ length: steps }, (_, index) => ({
    when: { root: true, step: 2 + index },
    calls: [{ name: 'think', input: { thought: 'well' } }],
  })),
  { when: { root: true }, say: 'The plan is made.' },
  {
    when: { agent: 'client', step: 0 },
    calls: [{ name: 'send', input: { to: '{{parent_id}}', message: `It needs\n${needs}\nand no locks` } }],
  },
  { say: 'done' },
];

it('tells whether two runs differ, where first, and in what', async () => {
  const home = makeHome();
  const ids: string[] = [];
  for (const rules of [rulesOf('three calls', 0), rulesOf('three calls', 0), rulesOf('four calls', 1)]) {
    writeFileSync(join(home.work, 'rules.json'), JSON.stringify({ rules }));
    const { stdout } = await home.run(['run', 'Plan it', '--model', 'scripted:rules.json', '--json']);
    ids.push(JSON.parse(stdout).id);
  }
  const [a = '', b = '', c = ''] = ids;
  const same = await home.run(['diff', a, b]);
  assert.deepEqual([same.stdout, same.code], ['no difference: 2 agents are the same\n', 0]);

  const differ = await home.run(['diff', a, c]);
  assert.equal(differ.code, 1);
  const tokens = String.raw`\d+k?(?: → \d+k?)?`;
  assert.match(
    differ.stdout,
    new RegExp(
      [
        `^first difference: main/client, answer: #4 in ${a.slice(0, 8)}, #4 in ${c.slice(0, 8)}`,
        '@@ -2,4 \\+2,4 @@',
        '   to: <id>',
        '   message: It needs',
        '-three calls',
        '\\+four calls',
        ' and no locks',
        '',
        'AGENT +OUTCOME +CALLS +FILES +TOKENS +COST +TIME +DIFFERS',
        `main +done +2 → 3 +0 +${tokens} +– +.*s +calls, messages`,
        `main/client +done +1 +0 +${tokens} +– +.*s +messages`,
        '$',
      ].join('\n'),
    ),
  );
  const { first, agents } = JSON.parse((await home.run(['diff', a, c, '--json'])).stdout);
  assert.deepEqual([first.path, first.a_seq, agents.length], ['main/client', 4, 2]);
  assert.deepEqual(agents[0].b.calls, ['fork', 'wait', 'think']);
  assert.equal((await home.run(['diff', a, 'nobody'])).code, 3);
});
