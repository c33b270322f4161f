// Proves that commands print the same, byte for byte, whether they read the database or ask a server with --server; that they act there; and that all others
// say that they need the database.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { until } from '../runtime/stage.ts';
import { type Home, makeHome } from './run-cli.ts';

const RULES = [
  {
    when: { root: true, user: '^spawn', step: 0 },
    calls: [{ name: 'sessions_spawn', input: { task: 'slow', label: 'bg' } }],
  },
  { when: { root: true, user: '^ask', step: 0 }, calls: [{ name: 'bash', input: { command: 'true' } }] },
  { when: { user: '^slow' }, say: 'late', delay_ms: 600_000 },
  { say: 'done' },
];
const MODEL = ['--model', 'scripted:rules.json'];

let home: Home;
let url = '';
let server: ReturnType<Home['start']>;

before(async () => {
  home = makeHome();
  writeFileSync(join(home.work, 'rules.json'), JSON.stringify({ rules: RULES }));
  server = home.start(['serve', '--listen', '0', ...MODEL]);
  let log = '';
  server.child.stderr?.on('data', (piece: Buffer) => {
    log += piece.toString();
  });
  await until(() => /listening on (\S+);/.test(log), 'a server');
  url = /listening on (\S+);/.exec(log)?.[1] ?? '';
});
after(async () => {
  server.child.kill('SIGTERM');
  await server.ended;
});

/** The command line with `--server`. */
const there = (...args: readonly string[]) => home.run([...args, '--server', url]);

it('starts a tree at the server, writes to it, and lists its runs as the database does', async () => {
  const started = await there('run', '--detach', ...MODEL, '--toolset', 'sessions', 'spawn one');
  assert.equal(started.code, 0, started.stderr);
  const id = started.stdout.trim();
  const active = async () => (await home.run(['subagent', 'list', '--json'])).stdout;
  await until(async () => (await active()).includes('"running"'), 'the run');
  const [run] = (JSON.parse(await active()) as { runs: { id: string }[] }).runs;
  for (const args of [
    ['subagent', 'list'],
    ['subagent', 'history'],
    ['subagent', 'show', run?.id ?? ''],
    ['worker', 'list'],
    ['deliveries', 'list'],
    ['deliveries', 'retry'],
    ['approvals', 'list'],
  ])
    for (const json of [[], ['--json']]) {
      const untimed = (text: string) =>
        text.replaceAll(/\d+(?:\.\d)?s\b|"expires_at":"[^"]*"/g, 'T').replaceAll(/ +/g, ' ');
      const [here, remote] = [await home.run([...args, ...json]), await there(...args, ...json)];
      assert.deepEqual(
        [untimed(remote.stdout), remote.code],
        [untimed(here.stdout), here.code],
        args.join(' '),
      );
    }
  const sent = await there('send', id, 'and more');
  assert.equal(sent.stdout, 'sent to main\n', sent.stderr);
  assert.equal((await there('subagent', 'cancel', run?.id ?? '')).stdout, 'cancelled bg\n');
});

it('lists approvals and answers them', async () => {
  const child = home.start(['run', '--ask', ...MODEL, 'ask me']);
  await until(async () => (await home.run(['approvals', 'list'])).stdout.includes('wants bash'), 'it asks');
  const { stdout } = await there('approvals', 'list', '--json');
  const [asked] = (JSON.parse(stdout) as { approvals: { id: string; lineage: string[] }[] }).approvals;
  assert.deepEqual(asked?.lineage, ['main']);
  assert.match((await there('approvals', 'allow', asked?.id ?? '')).stdout, /^allowed main: bash true\n$/);
  assert.equal((await child.ended).stdout, 'done\n');
});

it('uses COPPICE_SERVER and COPPICE_TOKEN, and says what is wrong', async () => {
  const env = { COPPICE_SERVER: url };
  assert.equal((await home.run(['worker', 'list'], { env })).code, 0);
  const wrong = await home.run(['worker', 'list'], { env: { ...env, COPPICE_TOKEN: 'wrong' } });
  assert.match(wrong.stderr, /a valid token is needed/);
  const refused = await there('doctor');
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /this command needs the database itself/);
  const followed = await there('run', ...MODEL, 'x');
  assert.match(followed.stderr, /needs the database itself/);
  const both = await there('worker', 'list', '--database', home.database);
  assert.match(both.stderr, /only one of them/);
  const elsewhere = makeHome();
  assert.match((await elsewhere.run(['worker', 'list', '--server', url])).stderr, /no token for the server/);
  assert.ok(readFileSync(join(home.folder, 'data', 'coppice', 'server', 'token'), 'utf8').length > 40);
});
