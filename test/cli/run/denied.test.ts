// Proves, by the program as a process, that whoever reads how a run ended also reads which of its calls were denied, and that the flag printed with it lets them run.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { MAIN } from '../../house/program.ts';
import { until } from '../../until.ts';
import { type Home, makeHome } from '../run-cli.ts';

function withRules(home: Home, rules: readonly object[]): void {
  writeFileSync(join(home.work, 'rules.json'), JSON.stringify({ rules: [...rules, { say: 'done' }] }));
}

const bash = (command: string, repeat = 1) => ({ name: 'bash', input: { command }, repeat });
const MODEL = ['--model', 'scripted:rules.json'];

it('the last line says how many calls were denied and by which flags they run; a shell takes these flags as they stand', async () => {
  const home = makeHome();
  const odd = `echo "$HOME" 'it''s' > "a b"`;
  const calls = [bash('touch one'), bash('echo {{index}}', 6), bash(odd), bash('python3 -c 1')];
  withRules(home, [{ when: { step: 0 }, calls }]);
  const { code, stderr } = await home.run(['run', ...MODEL, 'go']);
  assert.equal(code, 0);
  const [line = ''] = /\d+ calls denied: .*$/m.exec(stderr) ?? [];
  assert.match(
    line,
    /^9 calls denied: bash \(--allow "bash:echo \*"\), bash \(--allow "bash:touch one"\), bash \(--allow 'bash:echo "\$HOME" .*'\), …$/,
  );
  assert.equal(stderr.trimEnd().endsWith(line), true, stderr);
  const [tree, shown] = [await home.run(['tree']), await home.run(['show'])];
  assert.equal(tree.stdout.split(line).length - 1, 1, tree.stdout);
  assert.ok(shown.stdout.includes(line), shown.stdout);
  const flags = [...line.matchAll(/--allow (?:"[^"]*"|'bash:echo "\$HOME".*?')(?=\))/g)].map(
    ([flag]) => flag,
  );
  const command = `"${process.execPath}" "${MAIN}" run --json ${MODEL.join(' ')} ${flags.join(' ')} go`;
  const again = execFileSync('sh', ['-c', command], { cwd: home.work, env: home.env, stdio: 'pipe' });
  assert.deepEqual(JSON.parse(String(again)).denied, {
    calls: 1,
    rules: [{ tool: 'bash', calls: 1, why: 'it is unclear what it runs (code that python3 is given)' }],
  });
  assert.equal(existsSync(join(home.work, 'one')), true);
});

it('no rule is proposed that would not have helped: a deny rule, a runner, text that nobody could type again', async () => {
  const home = makeHome();
  const calls = [
    bash('rm -rf x'),
    bash('timeout 5 ls'),
    bash('touch a\u202eb'),
    bash('sh -c ls'),
    bash('touch \ud800'),
  ];
  withRules(home, [{ when: { step: 0 }, calls }]);
  const { stdout } = await home.run(['run', '--json', ...MODEL, '--deny', 'bash:rm *', 'go']);
  const { denied } = JSON.parse(stdout);
  assert.equal(denied.calls, 5);
  assert.deepEqual(
    denied.rules.flatMap(({ allow }: { allow?: string }) => allow ?? []),
    [],
  );
  assert.match(JSON.stringify(denied.rules), /deny\(bash:rm \*\)/);
});

it('calls of children and calls before a crash count too', async () => {
  const home = makeHome();
  withRules(home, [
    {
      when: { root: true, step: 0 },
      calls: [bash('echo 1'), { name: 'fork', input: { name: 'kid', prompt: 'try' } }],
    },
    {
      when: { root: true, step: 1 },
      calls: [{ name: 'wait', input: { from: ['kid'], timeout_seconds: 60 } }],
    },
    { when: { root: false, step: 0 }, calls: [bash('echo 2', 2)] },
    { when: { root: false, step: 1 }, delay_ms: 2_000, say: 'tried' },
  ]);
  const { child, ended } = home.start(['run', ...MODEL, 'go']);
  const kid = async () => (await home.run(['ps', '--json'])).stdout;
  await until(
    async () => /"name":"kid"[^}]*[\s\S]*"denied":\[\{"tool":"bash"[^}]*"calls":2/.test(await kid()),
    'the denials of kid',
  );
  child.kill('SIGKILL');
  await ended;
  const { code, stdout, stderr } = await home.run(['resume', '--json', ...MODEL]);
  assert.equal(code, 0, stderr);
  assert.deepEqual(JSON.parse(stdout).denied, {
    calls: 3,
    rules: [{ tool: 'bash', allow: 'bash:echo *', calls: 3 }],
  });
  const { stdout: said } = await home.run(['logs', 'kid']);
  assert.match(said, /2 calls denied: bash \(--allow "bash:echo \*"\)/);
});

it('a scheduled run of which every call was denied has failed; one of which some were denied is not simply complete', async () => {
  const home = makeHome();
  home.configure({ channels: { file: { log: join(home.folder, 'log.md') } } });
  const job = async (name: string, calls: readonly object[]) => {
    withRules(home, [{ when: { step: 0 }, calls }]);
    const flags = ['--every', '1d', '--task', 'look', '--deliver', 'file:log', ...MODEL];
    const added = await home.run(['cron', 'add', name, ...flags]);
    assert.equal(added.code, 0, added.stderr);
    const { code, stderr } = await home.run(['cron', 'run', name]);
    assert.equal(stderr.match(/^(failed: )?1 call denied: bash \(--allow "bash:echo \*"\)$/gm)?.length, 1);
    const { stdout } = await home.run(['cron', 'runs', name, '--json']);
    const [{ run }] = JSON.parse(stdout).runs;
    const tree = JSON.parse((await home.run(['tree', run.root_id, '--json'])).stdout);
    assert.equal(tree.outcome, run.outcome);
    return [run.status, run.error, run.result, code];
  };
  const line = '1 call denied: bash (--allow "bash:echo *")';
  assert.deepEqual(await job('blind', [bash('echo 1')]), ['failed', line, 'done', 1]);
  const read = { name: 'search', input: { pattern: 'x' } };
  assert.deepEqual(await job('seeing', [bash('echo 1'), read]), ['completed', line, 'done', 0]);
  const { stdout } = await home.run(['cron', 'list']);
  assert.match(stdout, /blind .*failed/);
  const runs = async (name: string) => (await home.run(['cron', 'runs', name])).stdout;
  assert.match(await runs('seeing'), /completed .*\(done, 1 call denied: bash \(--allow "bash:echo/);
});

it('counts every call that got a result, and what `--deliver` brings tells of denied calls and of agents that failed; a scheduled run tells the same', async () => {
  const home = makeHome();
  const log = join(home.folder, 'log.jsonl');
  home.configure({ channels: { file: { log } } });
  const spawn = (task: string) => ({ name: 'subagent_spawn', input: { task, description: task } });
  withRules(home, [
    { when: { root: true, step: 0 }, calls: [spawn('fare well'), spawn('fare ill'), bash('echo 1')] },
    { when: { root: true }, say: 'all is well' },
    { when: { user: 'fare ill' }, calls: [bash('echo 2')] },
  ]);
  const flags = [...MODEL, '--toolset', 'delegate', '--deliver', 'file:log'];
  const { stderr } = await home.run(['run', ...flags, 'go']);
  assert.match(stderr, /^3 agents, 0 at work, 6 calls, /m);
  assert.match((await home.run(['tree'])).stdout, /^main .* 3 calls .*\n.* 0 calls .*\n.* 3 calls /m);
  assert.match((await home.run(['ps', '--all'])).stdout, /main +. idle +. +3 /);
  assert.match((await home.run(['show'])).stdout, /^calls +3 in all its turns/m);
  await home.run(['cron', 'add', 'job', '--every', '1d', '--task', 'go', ...flags]);
  const run = await home.run(['cron', 'run', 'job']);
  const { ended, child } = home.start(['serve', '--listen', '0']);
  await until(() => existsSync(log) && readFileSync(log, 'utf8').split('\n').length > 2, 'both deliveries');
  child.kill();
  await ended;
  const [reply, job] = readFileSync(log, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const denied = '4 calls denied: bash (--allow "bash:echo *")';
  const failed = '1 of 2 failed: repeated_failure: bash failed 3 times';
  for (const { outcome, outcome_text } of [reply, job, job.run]) {
    assert.equal(outcome, 'done');
    assert.equal(outcome_text.startsWith(`done, ${failed}`) && outcome_text.endsWith(`, ${denied}`), true);
  }
  assert.equal(reply.text.startsWith(`all is well\n\n(${failed}`), true, reply.text);
  assert.equal(reply.text.endsWith(`, ${denied})`), true, reply.text);
  assert.match(run.stderr.trimEnd().split('\n').at(-1) ?? '', /^done, 1 of 2 failed: repeated_failure/);
  assert.match(job.text, /^\[Cron: job\] Complete, 1 of 2 failed: .*, 4 calls denied: /);
});

it('a scheduled run whose children report after its turn tells which of their calls were denied, before that turn ended and after', async () => {
  const home = makeHome();
  const fork = (name: string) => ({ name: 'fork', input: { name, prompt: name } });
  withRules(home, [
    { when: { root: true, step: 0 }, calls: [fork('early'), fork('late')] },
    { when: { root: true, step: 1 }, delay_ms: 300, say: 'they will report' },
    { when: { agent: 'late', step: 0 }, delay_ms: 900, calls: [bash('echo 1')] },
    { when: { root: false, step: 0 }, calls: [bash('echo 2')] },
  ]);
  await home.run(['cron', 'add', 'job', '--every', '1d', '--task', 'go', ...MODEL]);
  const { stderr } = await home.run(['cron', 'run', 'job']);
  assert.match(stderr, /^2 calls denied: bash \(--allow "bash:echo \*"\)$/m);
  const { stdout } = await home.run(['cron', 'runs', 'job']);
  assert.match(stdout, /completed .*\(done, 2 calls denied: bash \(--allow "bash:echo \*"\)/);
});

it('the history of runs tells which calls of a run were denied', async () => {
  const home = makeHome();
  const input = { task: 'try it', description: 'trier' };
  withRules(home, [
    { when: { root: true, step: 0 }, calls: [{ name: 'subagent_spawn', input }] },
    { when: { user: 'try it', step: 0 }, calls: [bash('echo 1')] },
  ]);
  await home.run(['run', ...MODEL, '--toolset', 'delegate', 'go']);
  const { stdout } = await home.run(['subagent', 'history']);
  assert.match(stdout, /trier .*completed .*done, 1 call denied: bash/);
});
