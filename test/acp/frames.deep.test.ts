/**
 * Proves that 100,000 frames, and lines above the size limit, cause no crash and no hang, that errors follow the specification, and that memory stays bounded.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { afterEach, test } from 'node:test';
import { MESSAGE_BYTES } from '../../src/processes/output/json-meter.ts';
import { makeHome } from '../cli/run-cli.ts';
import { closeOpened } from '../close-opened.ts';
import { startAgent, writeRules } from './editor-client.ts';
import { fuzz, RawEditor } from './frame-fuzz.ts';

afterEach(closeOpened);

test('100,000 frames', async (t) => {
  const home = makeHome();
  const child = startAgent(home, ['--model', writeRules(home, [{ say: 'Hello.' }])]);
  const raw = await fuzz(child, home.work, 7, 100_000);
  assert.ok(raw.broken > 30_000, `${raw.broken} broken ones`);
  const resident =
    Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024;
  t.diagnostic(
    `${raw.sent} frames, ${raw.broken} of them with an error of their own; ${resident.toFixed(0)} MB resident`,
  );
  assert.ok(resident < 700, `${resident} MB`);
});

test('a line of 100 MB is one parse error', async () => {
  const home = makeHome();
  const child = startAgent(home, ['--model', writeRules(home, [{ say: 'Hello.' }])]);
  const raw = new RawEditor(child);
  await raw.ask('initialize', { protocolVersion: 1 });
  raw.write(Buffer.from(`{"jsonrpc":"2.0","id":1,"method":"x","params":["${'a'.repeat(5 * MESSAGE_BYTES)}`));
  await raw.settled();
  assert.deepEqual(await raw.ask('session/list', {}), { sessions: [] });
});
