// Proves, with whole processes, what happens when output has no room or no reader: requested output that cannot be written causes a one-sentence error and
// exit 1; a log that cannot be written stops no work; a run whose events nobody reads any more stops in order, and is no success.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { it } from 'node:test';
import { MAIN } from '../../house/program.ts';
import { makeHome } from '../run-cli.ts';

const skip = existsSync('/dev/full') ? false : 'there is no /dev/full here';
const home = makeHome();
const rules = join(home.folder, 'rules.json');
const LONG = { when: { user: '^long' }, chunk_ms: 20, say: 'word '.repeat(5_000) };
const STEPS = {
  when: { step: 0, user: '^steps' },
  delay_ms: 200,
  calls: [{ name: 'think', input: { thought: 'x' } }],
};
const ANSWER = { delay_ms: 200, say: 'Here is the answer.' };
writeFileSync(rules, JSON.stringify({ rules: [LONG, STEPS, ANSWER] }));

async function run(args: readonly string[], full: 'stdout' | 'stderr') {
  const device = openSync('/dev/full', 'w');
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: home.work,
    env: home.env,
    stdio: ['ignore', full === 'stdout' ? device : 'pipe', full === 'stderr' ? device : 'pipe'],
  });
  const [other] = await Promise.all([text((child.stdout ?? child.stderr)!), once(child, 'close')]);
  return { code: child.exitCode, other };
}

const begin = ['run', '--model', `scripted:${rules}`, 'answer'];

it('a run whose progress cannot be written gives its answer', { skip }, async () => {
  assert.deepEqual(await run(begin, 'stderr'), { code: 0, other: 'Here is the answer.\n' });
});

it('an answer that cannot be written is told, in one sentence', { skip }, async () => {
  const { code, other } = await run(begin, 'stdout');
  assert.equal(code, 1);
  assert.match(other, /^error: standard output cannot be written: ENOSPC/m);
  assert.doesNotMatch(other, /^ +at /m);
});

it('so is a list', { skip }, async () => {
  const { code, other } = await run(['ps', '--all'], 'stdout');
  assert.equal(code, 1);
  assert.match(other, /^error: standard output cannot be written: ENOSPC[^\n]*\n$/);
});

it('a run whose progress nobody reads any more gives its answer', async () => {
  const { child, ended } = home.start([...begin.slice(0, -1), 'steps']);
  child.stderr?.once('data', () => child.stderr?.destroy());
  const { code, stdout } = await ended;
  assert.deepEqual([code, stdout], [0, 'Here is the answer.\n']);
});

it('a run whose events nobody reads any more stops, says how it goes on, and is no success', async () => {
  const { child, ended } = home.start([...begin.slice(0, -1), '--events', 'long']);
  child.stdout?.once('data', () => child.stdout?.destroy());
  const { code, stderr } = await ended;
  assert.equal(code, 129, stderr);
  assert.match(stderr, /nothing is lost, continue with: coppice resume \w+/);
});
