// Proves how the command line shows what a limit ended, what was cancelled, and which agent a result belongs to.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { before, describe, it } from 'node:test';
import { plainProgress } from '../../../src/cli/run/progress.ts';
import { agentJson } from '../../../src/documents/agent-json.ts';
import type { AgentState } from '../../../src/records/agent/state.ts';
import { agent } from '../../tui/ui-fixture.ts';
import { type Home, makeHome } from '../run-cli.ts';

const spawn = (description: string, maxTurns: number) => ({
  name: 'subagent_spawn',
  input: { task: `be ${description}`, description, maxTurns },
});
const LIMIT = 'limit reached: 1 model request in one turn';
const RULES = {
  rules: [
    { when: { root: true, step: 0 }, calls: [spawn('greedy', 1), spawn('modest', 5)] },
    { when: { user: '^Finish now' }, say: 'half of it' },
    { when: { root: true }, say: 'done' },
    { when: { agent: 'greedy' }, calls: [{ name: 'read', input: { path: 'rules.json' } }] },
    { say: 'all of it' },
  ],
};

describe('what a limit ended', () => {
  let home: Home;
  before(async () => {
    home = makeHome();
    writeFileSync(join(home.work, 'rules.json'), JSON.stringify(RULES));
    const run = await home.run([...RUN, 'go']);
    assert.equal(run.code, 0, run.stderr);
  });

  const RUN = ['run', '--model', 'scripted:rules.json', '--toolset', 'delegate', '--yes'];

  it('stands in the history, for people and as JSON', async () => {
    const { stdout } = await home.run(['subagent', 'history']);
    assert.match(stdout, /greedy +delegate +! cut short .*limit reached: 1 model/);
    const { runs } = JSON.parse((await home.run(['--json', 'subagent', 'history'])).stdout) as {
      runs: { label: string; status: string; result: string; error: string | null }[];
    };
    assert.deepEqual(
      runs.map(({ label, status, result, error }) => [label, status, result, error]).toSorted(),
      [
        ['greedy', 'completed', 'half of it', LIMIT],
        ['modest', 'completed', 'all of it', null],
      ],
    );
  });

  it('stands in the tree, and in the result of the call; each result in the log says whose it is', async () => {
    const ps = JSON.parse((await home.run(['--json', 'ps', '--all'])).stdout) as {
      agents: { name: string; limit: string | null }[];
    };
    assert.equal(ps.agents.find(({ name }) => name === 'greedy')?.limit, LIMIT);
    assert.match((await home.run(['tree'])).stdout, /greedy.*limit reached: 1 model/);
    for (const tail of [[], ['--tail', '3']]) {
      const { stdout } = await home.run(['logs', ...tail]);
      assert.match(stdout, /1 subagent_spawn ok: the sub-agent was cut short: limit reached/);
      assert.match(stdout, /2 subagent_spawn ok: all of it/);
    }
    assert.match(
      (await home.run(['logs'])).stdout,
      /● 1 subagent_spawn .*greedy.*● 2 subagent_spawn .*modest/s,
    );
  });

  it('is told last of the root itself, with what raises it, and the run has failed; the command that is named continues it', async () => {
    const root = await home.run([...RUN, '--limit', 'turns=1', 'go']);
    assert.equal(root.stdout, 'half of it\n');
    const told = /^cut short: limit reached: 1 model request in one turn. To raise it and continue: (.*)$/;
    const [, command = ''] = told.exec(root.stderr.trimEnd().split('\n').at(-1) ?? '') ?? [];
    assert.match(command, /^coppice resume \w+ --limit turns=2$/);
    assert.equal(root.code, 1);
    const resumed = await home.run(command.split(' ').slice(1));
    assert.deepEqual([resumed.code, resumed.stdout], [0, 'done\n'], resumed.stderr);
    const json = await home.run([...RUN, '--json', '--limit', 'turns=1', 'go']);
    assert.equal(JSON.parse(json.stdout).limit, LIMIT);
    assert.match(json.stderr, /^cut short: limit reached: .* --limit turns=\d+$/m);
    assert.equal(json.code, 1);
    const events = await home.run([...RUN, '--events', '--limit', 'turns=1', 'go']);
    assert.equal(events.code, 1);
  });

  it('also when the time of the run, or a budget, cut it short', async () => {
    const slow = {
      rules: [
        { when: { step: 0 }, calls: [{ name: 'bash', input: { command: 'sleep 30' } }] },
        { say: 'so far' },
      ],
    };
    writeFileSync(join(home.work, 'slow.json'), JSON.stringify(slow));
    const timed = ['run', '--model', 'scripted:slow.json', '--yes', '--limit', 'run=2s'];
    const run = await home.run([...timed, 'go']);
    assert.deepEqual([run.code, run.stdout], [1, 'so far\n']);
    assert.match(run.stderr, /^cut short: limit reached: run time of 2 s\. .* --limit run=4s$/m);
    const hangs = { rules: [{ delay_ms: 60_000, say: 'late' }] };
    writeFileSync(join(home.work, 'hangs.json'), JSON.stringify(hangs));
    const hung = await home.run(['run', '--model', 'scripted:hangs.json', '--limit', 'run=1s', 'go']);
    assert.deepEqual([hung.code, hung.stdout], [1, '']);
    assert.match(
      hung.stderr,
      /^cut short: limit reached: run time of 1 s\. To raise it and continue: coppice resume \w+ --limit run=2s\n$/m,
    );
    const used = await home.run([...RUN, '--limit', 'tokens=500', 'go']);
    assert.equal(used.code, 1, used.stderr);
    assert.match(used.stderr, /cut short: limit "tokens" of the tree reached/);
    assert.match(used.stderr, /coppice resume \w+ --limit tokens=\d+$/m);
  });
});

it('a result that never fits its schema is told in words, with what may help, not in JSON', async () => {
  const home = makeHome();
  const schema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
  const input = { task: 'count', description: 'counter', output_schema: schema };
  const rules = [
    { when: { root: true, step: 0 }, calls: [{ name: 'subagent_spawn', input }] },
    { when: { root: true }, say: 'done' },
    { calls: [{ name: 'submit_result', input: { n: 'many' } }] },
  ];
  writeFileSync(join(home.work, 'rules.json'), JSON.stringify({ rules }));
  const run = await home.run([
    'run',
    '--json',
    '--model',
    'scripted:rules.json',
    '--toolset',
    'delegate',
    'go',
  ]);
  const { agents } = JSON.parse(run.stdout);
  assert.equal(
    agents.find(({ name }: { name: string }) => name === 'counter').error.message,
    'submit_result failed 3 times in the same way: the result does not match the schema of the task: /n must be number. Another model or a simpler schema may help',
  );
});

describe('the progress of a run without a terminal', () => {
  it('tells a cancelled sub-agent from a failed one, and why', async () => {
    const stream = new PassThrough();
    const progress = plainProgress(stream, 'title', []);
    const ended = (name: string, state: AgentState) =>
      progress.see({ agent: agentJson(agent(name, 'main', { name, state })) });
    const failure = (kind: 'cancelled' | 'timed_out', error: string) =>
      ({ type: 'failed', failure: { kind, error, retryable: false } }) as const;
    ended('a', failure('cancelled', 'not needed any more'));
    ended('b', failure('timed_out', 'limit reached: run time of 2 s'));
    ended('c', { type: 'completed', result: 'r', limit: LIMIT });
    progress.end();
    stream.end();
    const lines = await text(stream);
    for (const line of [
      'a: cancelled, not needed any more',
      'b: cut short, limit reached: run time of 2 s',
      `c: cut short, ${LIMIT}`,
    ])
      assert.ok(lines.includes(line), lines);
  });
});
