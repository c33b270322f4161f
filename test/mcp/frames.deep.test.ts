/**
 * Proves that 100,000 frames over pipes and 10,000 over HTTP that no client should send cause no crash and no hang, that errors follow the specification, and
 * that memory stays bounded.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { afterEach, test } from 'node:test';
import { writeRules } from '../acp/editor-client.ts';
import { makeHome } from '../cli/run-cli.ts';
import { closeLater, closeOpened } from '../close-opened.ts';
import { MAIN } from '../house/program.ts';
import { setWebStage } from '../serve/http/web-stage.ts';
import { McpFrames, META } from './mcp-frames.ts';

afterEach(closeOpened);

/** The specification's error codes, which are the only ones allowed. */
const CODES: ReadonlySet<number> = new Set([-32700, -32600, -32601, -32602, -32603, -32021, -32022, -32020]);
const FRAMES = 100_000;
const LIVE = { jsonrpc: '2.0', id: 'alive', method: 'tools/list', params: { _meta: META } };

test('100,000 frames on standard input', async (t) => {
  const home = makeHome();
  const model = writeRules(home, [{ say: 'Hello.' }]);
  const child = spawn(process.execPath, [MAIN, 'mcp', '--model', model], { cwd: home.work, env: home.env });
  closeLater(async () => {
    if (child.exitCode === null) child.kill('SIGKILL');
  });
  child.stderr.resume();
  const counts = { answers: 0, errors: 0 };
  let alive = Promise.withResolvers<void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, error, method } = JSON.parse(line);
    if (id === 'alive') return alive.resolve();
    if (method !== undefined) return;
    counts.answers += 1;
    if (error === undefined) return;
    counts.errors += 1;
    assert.ok(CODES.has(error.code), line);
  });
  child.stdin.write(`${JSON.stringify(LIVE)}\n`);
  await alive.promise;
  const frames = new McpFrames(11);
  for (let sent = 0; sent < FRAMES; sent += 1) {
    if (!child.stdin.write(Buffer.concat([frames.next(), Buffer.from('\n')])))
      await new Promise((resolve) => child.stdin.once('drain', resolve));
    if (sent % 5_000 !== 0) continue;
    alive = Promise.withResolvers<void>();
    child.stdin.write(`${JSON.stringify(LIVE)}\n`);
    await alive.promise;
  }
  alive = Promise.withResolvers<void>();
  child.stdin.write(`${JSON.stringify(LIVE)}\n`);
  await alive.promise;
  const resident =
    Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024;
  t.diagnostic(
    `${counts.answers} answers, ${counts.errors} of them errors; ${resident.toFixed(0)} MB resident`,
  );
  assert.ok(counts.errors > FRAMES / 3, `${counts.errors} errors`);
  assert.ok(resident < 700, `${resident} MB`);
  child.stdin.end();
  const code = await new Promise((resolve) => child.once('close', resolve));
  assert.equal(code, 0);
});

test('10,000 bodies over HTTP', async () => {
  const web = await setWebStage(() => 'Hello.', {}, { rate: { take: () => null } as never });
  closeLater(async () => {
    await web.close();
    assert.deepEqual(web.troubles, []);
  });
  const frames = new McpFrames(12);
  const headers = {
    Authorization: `Bearer ${web.token('write')}`,
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
  };
  for (let round = 0; round < 1_000; round += 1) {
    const answers = await Promise.all(
      Array.from({ length: 10 }, () =>
        fetch(`${web.url}/mcp`, { method: 'POST', headers, body: frames.next() as never }),
      ),
    );
    for (const answer of answers) {
      assert.ok(answer.status < 500, `${answer.status}: ${await answer.clone().text()}`);
      await answer.text();
    }
  }
});
