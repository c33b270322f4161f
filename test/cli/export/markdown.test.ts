// Proves that a tree exported as Markdown has the text, calls and results of every agent, each message once, and that no text breaks out of its fence.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { makeHome } from '../run-cli.ts';

it('writes a chapter for each agent', async () => {
  const home = makeHome();
  const rules = [
    {
      when: { root: true, step: 0 },
      say: 'I ask.',
      calls: [{ name: 'fork', input: { name: 'kid', prompt: 'look' } }],
    },
    {
      when: { agent: 'kid', step: 0 },
      calls: [{ name: 'bash', input: { command: "printf '```\\n# no heading\\n```'" } }],
    },
    { say: '{{agent.name}} has an **end**.' },
  ];
  const file = join(home.folder, 'rules.json');
  writeFileSync(file, JSON.stringify({ rules }));
  const run = await home.run([
    'run',
    'Split\nthe work',
    '--model',
    `scripted:${file}`,
    '--allow',
    'bash',
    '--json',
  ]);
  assert.equal(run.code, 0, run.stderr);
  const { stdout } = await home.run(['export', '--markdown']);
  const heads = stdout.replaceAll(/^(`{3,})\n.*?^\1$/gms, '').match(/^#.*/gm);
  assert.deepEqual(heads, ['# Split', '## main (idle)', '## kid (idle)']);
  assert.match(stdout, /\*\*you:\*\*\n\n> Split\n> the work\n\nI ask\.\n\n`fork`\n/);
  assert.match(stdout, /`bash` ok\n\n````\n```\n# no heading\n```\n````\n/);
  // The root is told of the end of the kid, and answers once more.
  assert.equal(stdout.match(/main has an \*\*end\*\*\./g)?.length, 2);
  assert.equal(stdout.match(/kid has an \*\*end\*\*\./g)?.length, 2);
  assert.equal(stdout.match(/I ask\./g)?.length, 1, 'what was inherited is not repeated');
});
