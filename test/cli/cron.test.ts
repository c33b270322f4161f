// Proves `coppice cron` and `coppice deliveries` from a user's point of view: what they print and refuse, and what programs get.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { until } from '../until.ts';
import type { CliResult } from './residents.ts';
import { type Home, makeHome } from './run-cli.ts';

/** The model answers nothing else. */
const RULES = { rules: [{ when: { user: '^count' }, say: 'counted 3 files' }] };

describe('coppice cron', () => {
  let home: Home;
  const coppice = (...args: readonly string[]): Promise<CliResult> =>
    home.run([...args, '--model', 'scripted:rules.json']);
  const json = async (...args: readonly string[]) => {
    const { stdout, code, stderr } = await coppice(...args, '--json');
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout);
  };

  before(() => {
    home = makeHome();
    writeFileSync(join(home.work, 'rules.json'), JSON.stringify(RULES));
    home.configure({ channels: { file: { log: join(home.folder, 'log.md') } } });
  });

  it('says what to do while there are no jobs', async () => {
    const { stdout, code } = await coppice('cron', 'list');
    assert.equal(code, 0);
    assert.match(stdout, /no scheduled tasks; add one: coppice cron add/);
    assert.deepEqual(await json('cron', 'list'), { schema: 'coppice/cron-jobs/v1', jobs: [] });
  });

  it('adds a job, and says when it is due and that somebody must serve it', async () => {
    const { stdout, stderr, code } = await coppice(
      ...[
        'cron',
        'add',
        'count',
        '--cron',
        '0 9 * * 1-5',
        '--tz',
        'Europe/Berlin',
        '--task',
        'count the files',
      ],
      ...[
        '--timeout',
        '60',
        '--thinking',
        'low',
        '--deliver',
        'file:log',
        '--cleanup',
        'delete',
        '--overlap',
        'queue',
      ],
    );
    assert.equal(code, 0, stderr);
    assert.match(
      stdout,
      /^scheduled count: 0 9 \* \* 1-5 Europe\/Berlin, next \d{4}-\d\d-\d\d 09:00 Europe\/Berlin \(0[78]:00Z\)\n$/,
    );
    assert.match(stderr, /start coppice serve/);
    const [job] = (await json('cron', 'list')).jobs;
    const { id, next_at, created_at, updated_at, cwd, ...rest } = job;
    assert.deepEqual([rest.allow, rest.deny], [[], []]);
    delete rest.allow;
    delete rest.deny;
    assert.match(id, /^[\da-f-]{36}$/);
    for (const time of [next_at, created_at, updated_at]) assert.ok(!Number.isNaN(Date.parse(time)));
    assert.ok(cwd.endsWith('/work'));
    assert.deepEqual(rest, {
      name: 'count',
      schedule: { type: 'cron', expression: '0 9 * * 1-5', tz: 'Europe/Berlin' },
      task: 'count the files',
      workflow: null,
      args: null,
      session: 'isolated',
      session_key: `cron:${id}`,
      root_id: null,
      created_by: 'you',
      model: `scripted:${join(home.work, 'rules.json')}`,
      thinking: 'low',
      profile: null,
      toolsets: ['process'],
      timeout_seconds: 60,
      deliver: ['file:log'],
      once: false,
      cleanup: 'delete',
      overlap: 'queue',
      enabled: true,
    });
  });

  it('lists and shows it for people, by name, prefix and session key', async () => {
    const { id } = await json('cron', 'show', 'count');
    const list = await coppice('cron', 'list');
    assert.match(list.stdout, /^NAME +SCHEDULE +NEXT +LAST +TASK\ncount +0 9 \* \* 1-5 Europe\/Berlin /);
    for (const text of ['count', id, id.slice(0, 8), `cron:${id}`]) {
      const { stdout, code } = await coppice('cron', 'show', text);
      assert.equal(code, 0);
      assert.match(stdout, /deliver +file:log/);
      assert.match(stdout, /timeout +1m\n/);
      assert.match(stdout, /task\ncount the files\n$/);
    }
  });

  it('refuses invalid jobs, each with what to do next', async () => {
    const add = ['cron', 'add', 'other', '--task', 't'];
    const cases: readonly (readonly [readonly string[], number, RegExp])[] = [
      [
        [...add, '--cron', '61 * * * *'],
        2,
        /minute "61" is not allowed .*For example "0 \* \* \* \*": due next/s,
      ],
      [[...add, '--cron', '0 9 * * *', '--tz', 'Europe/Berln'], 2, /Did you mean Europe\/Berlin/],
      [[...add, '--at', '2026-02-30 10:00'], 2, /2026-02-30/],
      [[...add, '--at', '2020-01-01 10:00'], 2, /past/],
      [[...add], 2, /exactly one of cron, every and at/],
      [[...add, '--every', '0s'], 2, /every/],
      [[...add, '--every', '1h', '--tz', 'UTC'], 2, /time zone/],
      [['cron', 'add', 'other', '--every', '1h'], 2, /needs a task.*task "…"/s],
      [[...add, '--every', '1h', '--deliver', 'telegram:1'], 2, /no telegram bot is configured/],
      [[...add, '--every', '1h', '--deliver', 'file:lgo'], 2, /log/],
      [[...add, '--every', '1h', '--deliver', 'pigeon:x'], 2, /no channel "pigeon"/],
      [[...add, '--every', '1h', '--profile', 'nobody'], 2, /no profile called "nobody"/],
      [[...add, '--every', '1h', '--session', 'main', '--deliver', 'stdout'], 2, /isolated session/],
      [[...add, '--every', '1h', '--cleanup', 'burn'], 2, /burn/],
      [
        ['cron', 'add', 'count', '--every', '1h', '--task', 't'],
        2,
        /a scheduled job called "count" already exists/,
      ],
      [['cron', 'show', 'nobody'], 3, /no scheduled job "nobody".*coppice cron list/s],
      [['cron', 'rm', 'nobody'], 3, /no scheduled job/],
    ];
    for (const [args, code, pattern] of cases) {
      const result = await coppice(...args);
      assert.equal(result.code, code, `${args.join(' ')}: ${result.stderr}`);
      assert.match(result.stderr, pattern, args.join(' '));
    }
    assert.equal((await json('cron', 'list')).jobs.length, 1);
  });

  it('a model without its key is refused when the job is made, not when it is due', async () => {
    const args = [
      'cron',
      'add',
      'keyless',
      '--every',
      '1h',
      '--task',
      't',
      '--model',
      'anthropic/claude-sonnet-4-5',
    ];
    const { code, stderr } = await home.run(args);
    assert.equal(code, 4, stderr);
  });

  it('names what is wrong with the schedule, the task or the target before a key that is missing', async () => {
    for (const [args, message] of [
      [['--cron', '61 * * * *', '--task', 't'], /the minute "61" is not allowed/],
      [['--task', 't'], /a schedule needs exactly one of/],
      [['--every', '1h'], /a job needs a task.*\n.*what it does is --task: coppice cron add NAME/],
      [['--every', '1h', '--task', 't', '--deliver', 'file:nosuch'], /nosuch/],
    ] as const) {
      const { code, stderr } = await home.run(['cron', 'add', 'keyless', ...args]);
      assert.equal(code, 2, stderr);
      assert.match(stderr, message);
    }
  });

  it('changes what is named, and nothing else', async () => {
    const before = await json('cron', 'show', 'count');
    const { stdout, stderr } = await coppice(
      'cron',
      'update',
      'count',
      '--every',
      '2h',
      '--name',
      'counter',
      '--no-deliver',
    );
    assert.match(stdout, /^changed counter: every 2h, next /, stderr);
    const after = await json('cron', 'show', 'counter');
    assert.deepEqual(
      { ...after, ...pick(before, ['name', 'schedule', 'deliver', 'next_at', 'updated_at']) },
      before,
    );
    assert.deepEqual([after.schedule, after.deliver], [{ type: 'every', every_seconds: 7200 }, []]);
    await coppice('cron', 'update', 'counter', '--thinking', 'high', '--deliver', 'file:log');
    assert.equal((await json('cron', 'show', 'counter')).thinking, 'high');
  });

  it('rules and the folder stay unless they are named; a long timeout raises the limit of the run', async () => {
    await coppice('cron', 'update', 'counter', '--allow', 'bash:git *', '--deny', 'bash:git push*');
    const before = await json('cron', 'show', 'counter');
    const { code, stderr } = await home.run(
      [
        'cron',
        'update',
        'counter',
        '--allow',
        'bash:npm test',
        '--timeout',
        '7200',
        '--toolset',
        'fanout',
        '--json',
      ],
      { env: { PWD: '/' } },
    );
    assert.equal(code, 0, stderr);
    const after = await json('cron', 'show', 'counter');
    assert.deepEqual([after.allow, after.deny], [['bash:npm test'], ['bash:git push*']]);
    assert.deepEqual([after.cwd, after.model, after.toolsets], [before.cwd, before.model, ['fanout']]);
    assert.equal(after.timeout_seconds, 7200);
    await coppice('cron', 'update', 'counter', '--toolset', 'process', '--timeout', '60');
  });

  it('is disabled and enabled again', async () => {
    assert.match(
      (await coppice('cron', 'disable', 'counter')).stdout,
      /^disabled counter: every 2h, disabled\n$/,
    );
    assert.match((await coppice('cron', 'list')).stdout, /counter +every 2h +disabled/);
    assert.match((await coppice('cron', 'enable', 'counter')).stdout, /^enabled counter: every 2h, next /);
  });

  it('runs now: progress on stderr, the answer on stdout, a row in its runs and in the history', async () => {
    const { stdout, stderr, code } = await coppice('cron', 'run', 'counter');
    assert.equal(code, 0, stderr);
    assert.equal(stdout, 'counted 3 files\n');
    assert.match(stderr, /nothing delivers now: start coppice serve/);
    const runs = await coppice('cron', 'runs', 'counter');
    assert.match(
      runs.stdout,
      /^INSTANT +BY +STATUS .*\n\S+ \S+ +hand +✓ completed +\d+s +\w+ +counted 3 files\n$/,
    );
    const [entry] = (await json('cron', 'runs', 'counter')).runs;
    assert.deepEqual(
      [entry.manual, entry.outcome, entry.run.source, entry.run.status],
      [true, 'fired', 'cron', 'completed'],
    );
    const history = await json('subagent', 'history');
    assert.deepEqual([history.runs[0].label, history.runs[0].job_id], ['counter', entry.run.job_id]);
    const [delivery] = (await json('deliveries', 'list')).deliveries;
    assert.deepEqual(
      [delivery.target, delivery.status, delivery.about],
      ['file:log', 'pending', entry.run.id],
    );
    assert.match((await coppice('deliveries', 'list')).stdout, /run-\S+ +run +file:log +◌ pending +0 /);
  });

  it('a run that fails says so, with exit code 1', async () => {
    await coppice('cron', 'add', 'fails', '--every', '1d', '--task', 'fail');
    const { code, stderr } = await coppice('cron', 'run', 'fails');
    assert.equal(code, 1);
    assert.match(stderr, /no rule of \S*rules.json matches/);
    assert.match((await coppice('cron', 'runs', 'fails')).stdout, /✗ failed .*no rule of/);
  });

  it('serves: delivers what waits, deletes what may go, and stops when told', async () => {
    const server = home.start(['serve', '--log', 'json']);
    const log = join(home.folder, 'log.md');
    // The file exists before its first line does.
    await until(
      () =>
        existsSync(log) && /\[Cron: counter\] Complete\.\n\ncounted 3 files/.test(readFileSync(log, 'utf8')),
      'the delivery',
    );
    const [run] = (await json('cron', 'runs', 'counter')).runs;
    server.child.kill('SIGTERM');
    const { code, stderr } = await server.ended;
    assert.equal(code, 0);
    for (const line of stderr.trimEnd().split('\n')) assert.equal(typeof JSON.parse(line).text, 'string');
    assert.equal((await json('deliveries', 'list', '--status', 'pending')).deliveries.length, 0);
    assert.equal((await coppice('show', run.run.agent_id)).code, 3);
    assert.equal((await json('subagent', 'show', run.run.id)).result, 'counted 3 files');
  });

  it('retries what failed when told to', async () => {
    const { stdout } = await coppice('deliveries', 'retry');
    assert.match(stdout, /nothing to retry/);
    const unknown = await coppice('deliveries', 'retry', 'run-nothing');
    assert.deepEqual([unknown.code, /no delivery "run-nothing"/.test(unknown.stderr)], [3, true]);
    await coppice('cron', 'update', 'counter', '--deliver', `file:${join(home.folder, 'nowhere', 'x.md')}`);
    await coppice('cron', 'run', 'counter');
    const server = home.start(['serve']);
    const failed = async () => (await json('deliveries', 'list', '--status', 'failed')).deliveries;
    await until(async () => (await failed()).length > 0, 'the delivery failed');
    server.child.kill('SIGTERM');
    await server.ended;
    const [delivery] = await failed();
    assert.ok(delivery);
    assert.match((await coppice('deliveries', 'list')).stdout, /✗ failed +1 /);
    assert.match((await coppice('deliveries', 'retry', delivery.about)).stdout, /^1 will be retried now\n$/);
    assert.equal((await json('deliveries', 'list', '--status', 'pending')).deliveries.length, 1);
  });

  it('is removed, and its runs stay', async () => {
    const { stdout } = await coppice('cron', 'rm', 'counter');
    assert.equal(stdout, 'removed counter; its runs stay: coppice subagent history\n');
    assert.equal((await coppice('cron', 'show', 'counter')).code, 3);
    assert.ok(
      (await json('subagent', 'history')).runs.some((run: { label: string }) => run.label === 'counter'),
    );
  });
});

function pick<T extends object>(from: T, keys: readonly string[]): Partial<T> {
  return Object.fromEntries(Object.entries(from).filter(([key]) => keys.includes(key))) as Partial<T>;
}
