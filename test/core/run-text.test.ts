// Proves that the end of a run reads the same as a delivery and as an announcement, and that a question shows all that it is about.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { announcement } from '../../src/core/announcement.ts';
import { askText } from '../../src/core/ask-text.ts';
import type { Run } from '../../src/core/run.ts';
import { runText } from '../../src/core/run-text.ts';
import { newAsk, newRun } from '../channels/parcel-fixture.ts';

const ENDS: readonly (readonly [Partial<Run>, string])[] = [
  [{}, '[Cron: nightly] Complete.\n\nall is well'],
  [{ result: null }, '[Cron: nightly] Complete.'],
  [{ result: '' }, '[Cron: nightly] Complete.'],
  [{ status: 'failed', result: null, error: 'why' }, '[Cron: nightly] Failed: why'],
  [{ status: 'failed', result: null, error: null }, '[Cron: nightly] Failed: no reason was kept'],
  [
    { status: 'timeout', result: 'half', error: 'too slow' },
    '[Cron: nightly] Timed out: too slow\n\nWhat it had by then:\nhalf',
  ],
  [{ status: 'cancelled', result: null, error: 'Killed by you' }, '[Cron: nightly] Cancelled: Killed by you'],
  [{ source: 'subagent', label: 'research' }, '[Subagent: research] Complete.\n\nall is well'],
  [{ source: 'delegate', label: null, id: 'run-7' }, '[Delegate: run-7] Complete.\n\nall is well'],
];
for (const [over, text] of ENDS)
  it(`tells: ${text.replaceAll('\n', ' ')}`, () => assert.equal(runText(newRun(over)), text));

it('says of a background run what its requester is told', () => {
  const run = newRun({ source: 'subagent', label: 'a', status: 'timeout', result: 'half', error: 'why' });
  const outcome = { type: 'failure', error: 'why', error_kind: 'timed_out', partial: 'half' } as const;
  assert.equal(runText(run), announcement('a', outcome));
  assert.equal(
    runText(newRun({ source: 'subagent', label: 'a', result: 'r' })),
    announcement('a', { type: 'success', result: 'r' }),
  );
});

it('shows the one argument of a call as it is, and several with their names', () => {
  assert.equal(
    askText(newAsk({ id: '9c1f' })),
    [
      '**file-reader** wants **bash** and waits for you:',
      '```\nrm -rf dist\n```',
      'in /proj · rule: ask(bash:rm *)',
      'Answer: `coppice approvals allow 9c1f` or `coppice approvals deny 9c1f`',
    ].join('\n\n'),
  );
  const write = askText(newAsk({ tool: 'write', subject: 'a.md', input: '{"path":"a.md","content":"x"}' }));
  assert.match(write, /```\n\{\n {2}"path": "a\.md",\n {2}"content": "x"\n\}\n```/);
  assert.match(askText(newAsk({ input: 'not JSON' })), /```\nnot JSON\n```/);
});

it('lets nothing in a command end its frame, and says what it leaves out', () => {
  const command = 'echo "```" ````';
  const text = askText(newAsk({ subject: command, input: JSON.stringify({ command }) }));
  assert.ok(text.includes(`\n\`\`\`\`\`\n${command}\n\`\`\`\`\`\n`), text);
  const long = 'x'.repeat(10_000);
  const cut = askText(newAsk({ subject: long, input: JSON.stringify({ command: long }) }));
  assert.ok(cut.length < 4_000);
  assert.match(cut, /\(7000 more characters; whole: coppice approvals list --json\)/);
});
