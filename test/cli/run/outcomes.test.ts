// Proves that a program and a person are told the same about how a run, a tree and an agent ended, by every command and by the server (docs/guarantees.md#outcomes).
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startOpenAiChatServer } from '../../servers/openai-chat-server.ts';
import type { ProtocolServer } from '../../servers/protocol-server.ts';
import { until } from '../../until.ts';
import { type Home, makeHome } from '../run-cli.ts';

const RULES = {
  rules: [
    {
      when: { user: '^parent', root: true, step: 0 },
      calls: [{ name: 'fork', input: { name: 'c{{index}}', prompt: 'work' }, repeat: 2 }],
    },
    {
      when: { user: '^parent', root: true, step: 1 },
      calls: [{ name: 'wait', input: { timeout: 60, from_agents: '{{results.fork.*.agent_id}}' } }],
    },
    { when: { user: '^parent', root: true }, say: 'all reported' },
    { when: { agent: 'c0' }, say: 'fine' },
    { when: { user: '^Finish now', root: true }, say: 'so far' },
    { when: { user: '^A limit had cut you short' }, say: 'went on' },
    { when: { user: '^loop' }, calls: [{ name: 'think', input: { thought: 'on and on' } }] },
    { when: { user: '^ask', step: 0 }, calls: [{ name: 'bash', input: { command: 'true' } }] },
    { when: { user: '^hang' }, delay_ms: 60_000, say: 'late' },
    { when: { user: '^quick' }, say: 'quick' },
    { when: { user: '^crowd', root: true, tool: 'fork', result: 'agent_id' }, say: 'a crowd' },
    { when: { user: '^crowd', root: true }, calls: [{ name: 'fork', input: { name: 'one', prompt: 'x' } }] },
    { when: { agent: 'one' }, say: 'here' },
    { when: { user: 'one', root: true }, say: 'one came' },
  ],
};
const LIMIT = 'cut short: limit reached: 5 model requests in one turn';
const raisedIn = (id: string) =>
  `. To raise it and continue: coppice resume ${id.slice(0, 8)} --limit turns=10`;
const FAILED = /^done, 1 of 2 failed: bad_request: no rule of .*matches agent "c1"/m;

describe('outcomes', () => {
  let home: Home;
  let server: ProtocolServer;
  before(async () => {
    home = makeHome();
    server = await startOpenAiChatServer({ answer: () => ({ text: 'no', finish: 'refused' }) });
    writeFileSync(join(home.work, 'rules.json'), JSON.stringify(RULES));
    home.configure({
      model: 'scripted:rules.json',
      agents: { defaults: { limits: { turns: 5 } }, short: { turns: 2 } },
      channels: { file: { log: join(home.folder, 'log.jsonl') } },
      providers: { local: { type: 'openai-compatible', baseURL: `${server.url}/v1` } },
    });
  });
  after(() => server.close());

  const json = async (...args: readonly string[]) => {
    const { stdout, stderr } = await home.run([...args, '--json']);
    assert.notEqual(stdout, '', stderr);
    return JSON.parse(stdout);
  };

  it('a tree whose children failed is done and says so, last on stderr, in its document and in lists', async () => {
    const { code, stdout, stderr } = await home.run(['run', 'parent']);
    assert.deepEqual([code, stdout], [0, 'all reported\n'], stderr);
    assert.match(stderr.trimEnd().split('\n').at(-1) ?? '', FAILED);
    assert.match((await home.run(['tree'])).stdout, FAILED);
    const tree = await json('tree');
    assert.deepEqual([tree.outcome, FAILED.test(tree.outcome_text)], ['done', true]);
    assert.deepEqual(
      tree.agents.map(({ name, outcome }: Record<string, string>) => [name, outcome]),
      [
        ['main', 'done'],
        ['c0', 'done'],
        ['c1', 'failed'],
      ],
    );
    const run = await json('run', 'parent');
    assert.deepEqual([run.outcome, FAILED.test(run.outcome_text)], ['done', true]);
  });

  it('a limit is no success, wherever one looks, also with an answer', async () => {
    const { code, stdout, stderr } = await home.run(['run', 'loop']);
    assert.deepEqual([code, stdout], [1, 'so far\n']);
    assert.ok(stderr.includes(LIMIT), stderr);
    assert.match((await home.run(['ps'])).stdout, /main +! cut short .*cut short: limit reached/);
    assert.match((await home.run(['tree'])).stdout, /main +! cut short .*\n.*\n.*cut short: limit reached/);
    assert.match((await home.run(['show'])).stdout, /status +! cut short\noutcome +cut short: limit reached/);
    assert.match((await home.run(['wait'])).stdout, /main +cut short +\(limit reached/);
    for (const command of ['show', 'tree']) {
      const { id = '', root_id = id, outcome_text } = await json(command);
      assert.equal(outcome_text, `${LIMIT}${raisedIn(root_id)}`);
      assert.match((await home.run([command])).stdout, new RegExp(`${LIMIT}${raisedIn(root_id)}$`, 'm'));
    }
    const events = await home.run(['run', 'loop', '--events']);
    const lines = events.stdout.trimEnd().split('\n');
    const last = JSON.parse(lines.at(-1) ?? '');
    assert.deepEqual([events.code, last.outcome], [1, 'cut_short']);
    assert.equal(last.outcome_text, `${LIMIT}${raisedIn(last.id)}`);
    const agents = lines.map((line) => JSON.parse(line)).filter(({ type }) => type === 'agent');
    assert.equal(agents[0]?.agent.outcome, 'working');
    const { outcome, outcome_text } = agents.at(-1)?.agent ?? {};
    assert.deepEqual([outcome, outcome_text], ['cut_short', `${LIMIT}${raisedIn(last.id)}`]);
  });

  it('a limit of its profile is not said to be raised with that of the tree; what is printed goes on', async () => {
    const { code, stderr } = await home.run(['run', '--profile', 'short', 'loop']);
    const told = /^cut short: limit reached: 2 model requests in one turn\. Its profile .*: coppice (.*)$/m;
    const [, command = ''] = told.exec(stderr) ?? [];
    assert.match(command, /^resume \w+ --retry$/, stderr);
    assert.equal(code, 1);
    const again = await home.run(command.split(' '));
    assert.deepEqual([again.code, again.stdout], [0, 'went on\n'], again.stderr);
    assert.equal((await json('tree')).tree.limits.turns, 5);
  });

  it('a limit of agents that a model asks for again and again is raised by what is printed', async () => {
    const { code, stderr } = await home.run(['run', 'crowd', '--limit', 'children=0']);
    const told = /^failed: repeated_failure: .*limit "children" reached: 0 of 0.*: coppice (.*)$/m;
    const [, command = ''] = told.exec(stderr) ?? [];
    assert.match(command, /^resume \w+ --limit children=1$/, stderr);
    assert.doesNotMatch(stderr, /--retry/);
    assert.equal(code, 1);
    const again = await home.run(command.split(' '));
    assert.deepEqual([again.code, again.stdout], [0, 'one came\n'], again.stderr);
  });

  it('in a pipe, no list cuts a name or a reason', async () => {
    const name = 'a-name-of-more-than-four-and-twenty-characters';
    await home.run(['run', '--name', name, 'loop']);
    const { stdout } = await home.run(['ps']);
    assert.match(
      stdout,
      new RegExp(`${name} +! cut short .*${LIMIT}\\. To raise it .* --limit turns=10$`, 'm'),
    );
    assert.ok((await home.run(['tree'])).stdout.includes(name));
  });

  it('a model that declines is told from one that fails', async () => {
    const declined = await home.run(['run', 'x', '--model', 'local/m']);
    assert.equal(declined.code, 1);
    assert.match(declined.stderr, /^declined: .*\n {2}Ask again: /m);
    const { outcome, agents } = await json('run', 'x', '--model', 'local/m');
    assert.deepEqual([outcome, agents[0].outcome, agents[0].status], ['declined', 'declined', 'error']);
    assert.match((await home.run(['tree'])).stdout, /✗ declined/);
    const failed = await home.run(['run', 'nothing matches']);
    assert.equal(failed.code, 1);
    assert.match(failed.stderr, /^failed: bad_request: no rule/m);
    assert.match((await home.run(['wait'])).stdout, /^main +failed +\(no rule/);
  });

  it('what waits for a person says so, and who ends it is named', async () => {
    const { ended } = home.start(['run', 'ask', '--ask', '--json']);
    await until(async () => (await json('ps')).approvals === 1, 'the question');
    const { agents } = await json('ps');
    const [asking] = agents.filter(({ outcome }: { outcome: string }) => outcome === 'waiting_for_you');
    assert.equal(asking?.outcome_text, 'waiting for you: 1 approval');
    assert.equal((await json('tree', asking.id)).outcome, 'waiting_for_you');
    assert.match((await home.run(['tree', asking.id])).stdout, /! waiting for you/);
    await home.run(['kill', asking.id]);
    const { code, stdout, stderr } = await ended;
    assert.equal(code, 1);
    assert.equal(JSON.parse(stdout).outcome_text, 'stopped: killed by you');
    assert.match(stderr, /^stopped: killed by you$/m);
  });

  it('a run that this process stops is stopped, not failed', async () => {
    const { code, stdout } = await home.run(['run', 'hang', '--timeout', '1', '--json']);
    const { outcome, outcome_text } = JSON.parse(stdout);
    assert.deepEqual([code, outcome, outcome_text], [124, 'stopped', 'stopped: time is up']);
    assert.match((await home.run(['tree'])).stdout, /^unled: no process leads it/m);
  });

  it('runs of schedules, and what is delivered of them, do not call it completed', async () => {
    for (const task of ['loop', 'parent', 'quick']) {
      await home.run(['cron', 'add', task, '--every', '1d', '--task', task, '--deliver', 'file:log']);
      const { code } = await home.run(['cron', 'run', task]);
      assert.equal(code, task === 'loop' ? 1 : 0);
    }
    const loop = (await home.run(['cron', 'runs', 'loop'])).stdout;
    assert.match(loop, /! cut short .*\(cut short: limit reached: 5 model/);
    assert.doesNotMatch(loop, /completed/);
    assert.match((await home.run(['cron', 'runs', 'parent'])).stdout, /\(done, 1 of 2 failed: bad_re/);
    assert.match((await home.run(['cron', 'runs', 'quick'])).stdout, /✓ completed .* quick/);
    assert.match((await home.run(['subagent', 'history'])).stdout, /loop +cron +! cut short/);
    const [{ run }] = (await json('cron', 'runs', 'parent')).runs;
    assert.deepEqual([run.status, run.outcome], ['completed', 'done']);
    assert.match(run.outcome_text, FAILED);
    // Its forks were ended with it, which hides no failure.
    assert.equal((await json('tree', run.root_id)).outcome_text, run.outcome_text);
  });

  it('a run that has ended is not said to be resumed', async () => {
    await home.run(['cron', 'add', 'lost', '--every', '1d', '--task', 'no rule']);
    const { code, stderr } = await home.run(['cron', 'run', 'lost']);
    assert.equal(code, 1);
    assert.match(stderr, /^failed: bad_request: no rule of .*\n$/m);
    assert.doesNotMatch(stderr, /coppice resume/);
  });

  it('the server delivers it, and lists trees by it', async () => {
    const serving = home.start(['serve', '--listen', '0']);
    let said = '';
    serving.child.stderr?.on('data', (text: string) => {
      said += text;
    });
    const log = join(home.folder, 'log.jsonl');
    const delivered = () => {
      try {
        return readFileSync(log, 'utf8');
      } catch {
        return '';
      }
    };
    await until(() => delivered().trimEnd().split('[Cron: ').length === 4, 'the deliveries');
    assert.match(delivered(), /\[Cron: loop\] Cut short/);
    assert.match(delivered(), /\[Cron: parent\] Complete, 1 of 2 failed: bad_request: /);
    const url = /listening on (\S+);/.exec(said)?.[1] ?? '';
    const token = (await home.run(['web', '--token'])).stdout.trim();
    const get = async (query: string) => {
      const headers = { authorization: `Bearer ${token}` };
      const response = await fetch(`${url}/v1/trees?${query}`, { headers });
      return { status: response.status, body: await response.json() };
    };
    const all = (await get('limit=100')).body.trees;
    for (const outcome of new Set<string>(all.map((tree: { outcome: string }) => tree.outcome))) {
      const { trees } = (await get(`outcome=${outcome}`)).body;
      assert.deepEqual(
        trees.map((tree: { root_id: string }) => tree.root_id),
        all
          .filter((tree: { outcome: string }) => tree.outcome === outcome)
          .map((tree: { root_id: string }) => tree.root_id),
      );
      assert.equal((await get(`outcome=${outcome}&limit=1`)).body.trees.length, 1);
    }
    assert.ok(all.some((tree: { outcome: string }) => tree.outcome === 'cut_short'));
    assert.equal((await get('outcome=nonsense')).status, 400);
    serving.child.kill('SIGTERM');
    await serving.ended;
  });
});
