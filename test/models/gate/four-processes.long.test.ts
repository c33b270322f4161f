/**
 * Proves with four real processes and a real HTTP server that gates which know nothing of each other share one limit: everything is answered, few are
 * refused once it is learnt, and every process gets all of its answers. Prints what it measures.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const PROCESSES = 4;
const EACH = 250;
/** Requests a second, and those that are saved up. */
const LIMIT = { a_second: 50, most: 100 };
const EVENTS = [{ content: 'hi' }, {}]
  .map((delta, index) => ({ index: 0, delta, finish_reason: index === 0 ? null : 'stop' }))
  .map((choice) => `data: ${JSON.stringify({ id: 'c', model: 'm', choices: [choice] })}\n\n`)
  .join('');

/** A server with one bucket for everybody; `tells`: whether its answers state it. */
async function limited(tells: boolean) {
  let left = LIMIT.most;
  let filled_at = performance.now();
  const [accepted, refused]: number[][] = [[], []];
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    if (request.method === 'GET') return response.writeHead(404).end();
    request.resume();
    const now = performance.now();
    left = Math.min(LIMIT.most, left + ((now - filled_at) * LIMIT.a_second) / 1_000);
    filled_at = now;
    const is_refused = left < 1;
    (is_refused ? refused : accepted)?.push(now);
    if (!is_refused) left -= 1;
    const headers = {
      'x-ratelimit-limit-requests': `${LIMIT.most}`,
      'x-ratelimit-remaining-requests': `${Math.floor(left)}`,
      'x-ratelimit-reset-requests': `${((LIMIT.most - left) / LIMIT.a_second).toFixed(3)}s`,
    };
    const type = is_refused ? 'application/json' : 'text/event-stream';
    if (!is_refused) await sleep(200);
    response.writeHead(is_refused ? 429 : 200, { 'content-type': type, ...(tells && headers) });
    response.end(is_refused ? '{"error":{"message":"too many"}}' : `${EVENTS}data: [DONE]\n\n`);
  };
  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return { url, accepted: accepted ?? [], refused: refused ?? [], close: () => server.close() };
}

for (const tells of [false, true])
  it(`four processes with one limit, ${tells ? 'stated in headers' : 'silent'}`, async () => {
    const server = await limited(tells);
    const begun = performance.now();
    const program = join(import.meta.dirname, 'one-process.ts');
    const ended = await Promise.all(
      Array.from({ length: PROCESSES }, async () => {
        const { stdout } = await promisify(execFile)(process.execPath, [program, server.url, `${EACH}`]);
        return { ...JSON.parse(stdout), at: performance.now() - begun };
      }),
    );
    server.close();
    const last = Math.max(...ended.map(({ at }) => at));
    const best = ((PROCESSES * EACH - LIMIT.most) * 1_000) / LIMIT.a_second;
    const late = (all: readonly number[]) => all.filter((at) => at - begun > last / 3).length;
    const share = late(server.refused) / (late(server.refused) + late(server.accepted));
    const first = Math.min(...ended.map(({ at }) => at));
    console.log(
      `${(last / best).toFixed(2)} of the best time, ${(100 * share).toFixed(1)} % refused after learning, first process at ${(first / last).toFixed(2)}`,
      ended.map(({ learnt }) => learnt),
    );
    assert.deepEqual(
      ended.map(({ answered, failed }) => [answered, failed]),
      ended.map(() => [EACH, 0]),
    );
    // Times depend on what else the machine does, so they are printed and not judged: the fake clock of sweep.long.test.ts judges them.
    assert.ok(share <= 0.2, `${share} refused`);
  });
