// Proves that each workflow in examples/workflows/ passes `coppice workflow check` and runs to the result that it promises.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { checkScript } from '../../src/models/workflow/check-script.ts';
import { readSource } from '../../src/models/workflow/script-places.ts';
import { until } from '../until.ts';
import { workflowHome } from './run-workflow.ts';

const FOLDER = join(import.meta.dirname, '../../examples/workflows');
const GUIDE = readFileSync(join(FOLDER, 'SKILL.md'), 'utf8');
const SCRIPTS = readdirSync(FOLDER).filter((file) => file.endsWith('.js'));
const submit = (user: string, result: object) => ({
  when: { user },
  calls: [{ name: 'submit_result', input: { result: JSON.stringify(result) } }],
});
const say = (user: string, text: string) => ({ when: { user }, say: text });
const home = workflowHome([
  submit('^Find faults in x.js', { faults: [] }),
  submit('^Find faults', { faults: ['real', 'false'] }),
  submit('^Refute this by running it: false', { refuted: true }),
  submit('^Refute this', { refuted: false }),
  say('^Migrate (?!bad)', 'migrated'),
  say('^Draft short', 'short plan'),
  say('^Draft', 'other plan'),
  submit('^Judge as owner', { best: 1 }),
  submit('^Judge', { best: 0 }),
  submit('^Hunt, round 1\\.', { found: ['a', 'b'] }),
  submit('^Hunt, round 3\\.', { found: ['b', 'c'] }),
  submit('^Hunt', { found: ['a'] }),
  submit('^Split', { parts: ['light', 'air'] }),
  say('^Research light', 'light scatters'),
  say('^Research', 'air is thin'),
  say('^Write the answer to: .*\\nlight scatters\\nair is thin', 'it scatters'),
  say('^Read ', 'text of {{user.^Read (\\w+)}}'),
  say('^Summarize 1: text of one', 'first'),
  say('^Summarize 2: text of two', 'second'),
  say('^Compare first / second', 'they differ'),
  say('^Plan', 'careful'),
  say('^Release as planned: careful', 'released'),
  say('^Improve', 'better'),
  say('^Change ', 'changed'),
  say('^Merge', 'merged'),
  say('^Look at part', 'part {{user.^Look at part (\\d)}}'),
  say('^Look again', 'again'),
  say('^Write the announcement', 'long'),
  say('^Write it again. Too long', 'short'),
  submit('^Criticize, round 1: long', { complaints: ['Too long.'] }),
  submit('^Criticize, round 2: short', { complaints: [] }),
  {
    when: { user: '^We build a bridge', step: 0 },
    calls: [{ name: 'workflow', input: { scriptPath: './forked-context.js' } }],
  },
  say('What did we forget about', 'No {{user.about (\\w+)}}.'),
  say('^We build', 'It is on its way.'),
  say('No security\\. No cost\\. No users\\.', 'It looked at everything.'),
  say('^Again: Count.*The first try failed: no rule', '7'),
]);
for (const file of SCRIPTS) copyFileSync(join(FOLDER, file), join(home.work, file));
execFileSync(
  'sh',
  ['-c', 'git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m first'],
  {
    cwd: home.work,
  },
);

interface Example {
  readonly result: unknown;
  readonly args?: object;
  readonly more?: readonly string[];
  /** What a person asks an agent, which then starts the workflow. */
  readonly asked?: string;
  /** What people read before the result. */
  readonly failed?: RegExp;
}

const EXAMPLES: Readonly<Record<string, Example>> = {
  audit: { result: [{ file: 'src/main.js', fault: 'real', stands: true }] },
  'budget-guard': { result: 10, more: ['--limit', 'tokens=50000'] },
  continued: { result: 'short' },
  'deep-research': { result: 'it scatters' },
  failures: { result: '7', failed: /^Of 2 agents 1 failed/ },
  'forked-context': {
    ...{ asked: 'We build a bridge.', more: ['--toolset', 'workflow'] },
    result: 'It looked at everything.',
  },
  'human-step': { result: 'released', more: ['--ask'] },
  'judge-panel': { result: 'short plan' },
  'loop-until-dry': { result: ['a', 'b', 'c'] },
  migrate: {
    ...{ args: { files: ['a.js', 'bad.js', 'c.js'] }, failed: /^Of 3 agents 1 failed/ },
    result: { done: ['a.js', 'c.js'], failed: ['bad.js'] },
  },
  nested: { result: { done: ['x.js'], faults: [] } },
  'pipeline-barrier': { result: 'they differ' },
  staggered: { result: ['part 0', 'part 1', 'part 2', 'again'] },
  worktrees: { result: 'merged' },
};

it('every example is in the table', () => {
  assert.deepEqual(
    SCRIPTS.map((file) => file.replace(/\.js$/, '')),
    Object.keys(EXAMPLES),
  );
});

it('the guide for authors names every example, and its own script is right', async () => {
  const named = [...GUIDE.slice(GUIDE.indexOf('\nExamples')).matchAll(/`([\w-]+\.js)`/g)];
  assert.deepEqual(named.map(([, file]) => file).toSorted(), SCRIPTS);
  const source = /```js\n([\s\S]*?)```/.exec(GUIDE)?.[1] ?? '';
  const { calls, end, notices } = await checkScript({ source });
  assert.deepEqual([end.type, notices], ['done', []]);
  assert.ok(calls.some(({ phase }) => phase === 'Check'));
});

describe('an example', { concurrency: 3 }, () => {
  for (const [name, { result, args, more = [], failed, asked }] of Object.entries(EXAMPLES))
    it(name, async () => {
      const check = await checkScript({ source: readSource(join(FOLDER, `${name}.js`), name) });
      assert.deepEqual(check.notices, []);
      assert.ok(check.end.type === 'done' || check.end.type === 'bounded', JSON.stringify(check.end));
      const given = args === undefined ? [] : ['--args', JSON.stringify(args)];
      const command = asked === undefined ? ['workflow', 'run', `./${name}.js`] : ['run', asked];
      const ended = home.run([...command, '--yes', ...given, ...more]);
      if (name === 'human-step') await answerYes();
      const { code, stdout, stderr } = await ended;
      assert.equal(code, failed === undefined ? 0 : 1, stderr);
      if (failed !== undefined) assert.match(stdout, failed);
      const text = (failed === undefined ? stdout : stdout.slice(stdout.indexOf('\n\n'))).trim();
      assert.deepEqual(typeof result === 'string' ? text : JSON.parse(text), result);
    });
});

async function answerYes(): Promise<void> {
  const asked = async () =>
    ((await home.json('approvals')) as { approvals: { id: string }[] }).approvals.map(({ id }) => id);
  await until(async () => (await asked()).length > 0, 'the question');
  for (const id of await asked()) await home.run(['approvals', 'allow', id, '--value', 'answer=yes']);
}
