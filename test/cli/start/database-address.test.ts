// Proves that no command shows the password of a database, creates a file from an invalid address, or succeeds with one.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { it } from 'node:test';
import { MALFORMED, SECRET } from '../../store/malformed-addresses.ts';
import { makeHome } from '../run-cli.ts';

const home = makeHome();

const COMMANDS = [
  ['run', 'hello', '--model', 'ollama/x'],
  ['run', 'hello', '--model', 'ollama/x', '--detach', '--json'],
  ['resume'],
  ['ps', '--json'],
  ['tree'],
  ['show', 'x'],
  ['logs', 'x'],
  ['send', 'x', 'hi'],
  ['wait', 'x'],
  ['kill', 'x', '-y'],
  ['approvals', 'list'],
  ['subagent', 'list'],
  ['cron', 'list', '--debug'],
  ['deliveries', 'list'],
  ['worker', 'list'],
  ['worker'],
  ['serve'],
  ['gc', '--dry-run'],
  ['doctor', '--json'],
  ['doctor'],
];
const SECRETS = MALFORMED.map(([text]) => text).filter((text) => text.includes(SECRET));
/** Well-formed, but nobody listens there. */
const UNREACHABLE = `postgres://ada:${SECRET}@127.0.0.1:1/ledger?password=${SECRET}`;

for (const [at, args] of COMMANDS.entries())
  it(`coppice ${args.join(' ')}`, async () => {
    const text = SECRETS[(at * 7) % SECRETS.length] as string;
    const is_server = args[0] === 'serve' || args.length === 1;
    // In turn: an invalid address as a flag, one in the environment, and a valid but unreachable one, except for servers, which would wait for it.
    const { code, stdout, stderr } = await (at % 3 === 0
      ? home.run([...args, `--database=${text}`])
      : home.run(args, { env: { DATABASE_URL: at % 3 === 1 || is_server ? text : UNREACHABLE } }));
    const said = stdout + stderr;
    assert.ok(!said.includes(SECRET), said.replaceAll(SECRET, '…'));
    assert.equal(code, args[0] === 'doctor' ? 1 : 2, said);
    assert.match(said, /database|LISTEN/);
    assert.deepEqual(readdirSync(home.work), []);
  });

it('completion stays silent', async () => {
  for (const text of [SECRETS[3] as string, UNREACHABLE]) {
    const { stdout, stderr } = await home.run(['__complete', 'show', ''], { env: { DATABASE_URL: text } });
    assert.ok(!(stdout + stderr).includes(SECRET));
  }
  assert.deepEqual(readdirSync(home.work), []);
});
