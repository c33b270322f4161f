// Proves that only commands that start something create a ledger: every other command says that there is none, and creates no file, folder or table.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import pg from 'pg';
import { type Databases, sharedPostgres } from '../../postgres/shared-postgres.ts';
import { makeHome } from '../run-cli.ts';

/** Commands with their exit code when there is no ledger. */
const COMMANDS: readonly (readonly [readonly string[], number])[] = [
  [['ps'], 0],
  [['ps', '--all', '--json'], 0],
  [['tree'], 3],
  [['show', 'x'], 3],
  [['logs', 'x'], 3],
  [['wait'], 3],
  [['send', 'x', 'hello'], 3],
  [['kill', 'x', '-y'], 3],
  [['resume'], 3],
  [['approvals', 'list'], 0],
  [['approvals', 'allow', 'abcd'], 3],
  [['subagent', 'list'], 0],
  [['subagent', 'history'], 0],
  [['cron', 'list'], 0],
  [['cron', 'rm', 'x'], 3],
  [['deliveries', 'list'], 0],
  [['worker', 'list'], 0],
  [['worker', 'drain', 'abcd'], 3],
  [['gc', '--dry-run'], 0],
];

const home = makeHome();
let server: Databases;
let empty: string;
before(async () => {
  server = await sharedPostgres();
  empty = await server.createEmpty();
  writeFileSync(join(home.work, 'empty.db'), '');
});
after(async () => {
  await server.stop();
});

for (const [at, [args, code]] of COMMANDS.entries())
  it(`coppice ${args.join(' ')}`, async () => {
    const usual = await home.run(args);
    assert.equal(usual.code, code, usual.stderr);
    const named = ['foo/ledger.db', 'empty.db', empty][at % 3] as string;
    const there = await home.run([...args, '--database', named]);
    assert.equal(there.code, 3, there.stdout);
    assert.match(there.stdout + there.stderr, /there is no ledger at .*(ledger\.db|empty\.db|test_\d+_\d+)/);
    assert.match(there.stdout + there.stderr, /E_DB_NONE/);
    assert.deepEqual(readdirSync(home.work), ['empty.db']);
    assert.equal(statSync(join(home.work, 'empty.db')).size, 0);
    assert.equal(existsSync(join(home.folder, 'data')), false);
  });

it('a missing ledger named by the environment is reported and taken as empty; doctor says what will create it', async () => {
  const env = { DATABASE_URL: 'later.db' };
  const ps = await home.run(['ps'], { env });
  assert.deepEqual(
    [ps.code, ps.stderr.replace(/at .*later/, 'at later')],
    [0, 'there is no ledger at later.db yet\n'],
  );
  const { stdout } = await home.run(['doctor'], { env });
  assert.match(stdout, /^ok +database +none yet at .*later\.db: created at first use$/m);
  const complete = await home.run(['__complete', 'show', ''], { env });
  assert.equal(complete.stdout, '');
  const client = new pg.Client({ connectionString: empty });
  await client.connect();
  const { rows } = await client.query("SELECT relname FROM pg_class WHERE relname LIKE 'coppice%'");
  await client.end();
  assert.deepEqual(rows, []);
  assert.deepEqual(readdirSync(home.work), ['empty.db']);
});

it('what begins work creates it', async () => {
  const { code } = await home.run([
    'cron',
    'add',
    'x',
    '--every',
    '1d',
    '--task',
    't',
    '--database',
    'new/ledger.db',
    '--model',
    'ollama/x',
  ]);
  assert.equal(code, 0);
  assert.ok(existsSync(join(home.work, 'new', 'ledger.db')));
});
