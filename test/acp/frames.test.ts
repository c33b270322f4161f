/** Proves that broken frames get the errors of the specification, and that the connection continues. `frames.deep.test.ts` sends 100,000. */
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { FrameGuard } from '../../src/processes/output/frame-guard.ts';
import { MESSAGE_BYTES, MESSAGE_DEPTH, MESSAGE_VALUES } from '../../src/processes/output/json-meter.ts';
import { makeHome } from '../cli/run-cli.ts';
import { closeOpened } from '../close-opened.ts';
import { startAgent, writeRules } from './editor-client.ts';
import { fuzz, RawEditor } from './frame-fuzz.ts';

afterEach(closeOpened);

test('1,000 frames, most of them broken, are answered as the specification says', async () => {
  const home = makeHome();
  const child = startAgent(home, ['--model', writeRules(home, [{ say: 'Hello.' }])]);
  const raw = await fuzz(child, home.work, 20_261_124, 1_000);
  assert.ok(raw.broken > 300, `${raw.broken} broken ones`);
});

test('what is pushed before initialize, and lines that are cut, are told apart from what works', async () => {
  const home = makeHome();
  const raw = new RawEditor(startAgent(home, ['--model', writeRules(home, [{ say: 'Hello.' }])]));
  raw.write(Buffer.from('{"jsonrpc":"2.0","id":1,"method":"session/list","params":{}}'));
  raw.write(Buffer.from(`{"a":${'['.repeat(MESSAGE_DEPTH + 1)}`));
  raw.write(Buffer.from('not json'));
  raw.write(Buffer.from('[{"jsonrpc":"2.0","id":2,"method":"session/list"}]'));
  await raw.settled();
  await raw.ask('initialize', { protocolVersion: 1 });
  assert.deepEqual(await raw.ask('session/list', {}), { sessions: [] });
});

function guarded(...chunks: readonly string[]): string {
  const guard = new FrameGuard();
  const passed = chunks.flatMap((chunk) => [...guard.take(Buffer.from(chunk))]);
  return Buffer.concat(passed).toString();
}

test('lines pass as they come, in whatever pieces', () => {
  const line = '{"text":"a \\" [[[ b","list":[1,2,{"x":null}]}\n';
  assert.equal(guarded(line, line), line + line);
  assert.equal(guarded(...line, ...line), line + line);
});

test('a line that is nested too deeply, has too many values or bytes, is cut, and the next one passes', () => {
  const next = '{"id":1}\n';
  const deep = '['.repeat(MESSAGE_DEPTH);
  assert.equal(guarded(`${deep}\n${next}`), `${deep}\n${next}`);
  assert.equal(guarded(`${deep}[1]\n`, next), `${deep}\n${next}`);
  // Brackets inside a string do not count as nesting.
  assert.equal(guarded(`"${deep}${deep}"\n`), `"${deep}${deep}"\n`);
  const many = guarded(`[${'1,'.repeat(MESSAGE_VALUES)}1]\n`, next);
  assert.ok(many.endsWith(`,\n${next}`) || many.endsWith(`1\n${next}`));
  assert.ok(many.length < 2 * MESSAGE_VALUES + 50);
  const long = guarded(`"${'a'.repeat(MESSAGE_BYTES - 2)}`, 'more and more', `"\n${next}`);
  assert.equal(long.length, MESSAGE_BYTES + 1 + next.length);
  assert.ok(long.endsWith(`\n${next}`));
});
