/** Proves that neither hundreds of concurrent calls nor a client that never reads makes the memory of that client's server grow without bound. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeHome } from '../cli/run-cli.ts';
import { closeOpened } from '../close-opened.ts';
import { startClient, writeRules } from './mcp-client.ts';
import { META } from './mcp-frames.ts';

after(closeOpened);

const RULES = [{ when: { user: 'hang' }, delay_ms: 60_000, say: 'late' }];
const MEGABYTES = 700;

function residentOf(pid: number | undefined): number {
  try {
    return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1_024;
  } catch {
    return 0;
  }
}

it('more calls than are carried out at once', async () => {
  const home = makeHome();
  const client = await startClient(home, writeRules(home, RULES));
  await client.tool('fork', { name: 'stuck', prompt: 'hang' });
  const waits = Array.from({ length: 300 }, () =>
    client.tool('wait', { timeout: 20, from_agents: ['stuck'] }),
  );
  await client.ask('tools/list');
  await client.tool('list_agents');
  const killed = home.start(['kill', 'stuck', '--yes']).ended;
  const told = (await Promise.all(waits)).map(({ value }) => JSON.stringify(value));
  assert.equal((await killed).code, 0);
  const refused = told.filter((text) => text.includes('LIMIT_REACHED'));
  assert.equal(refused.length, 44);
  assert.ok(told.every((text) => refused.includes(text) || text.includes('dead')));
  assert.equal((await client.tool('list_agents')).is_error, false);
});

it('a client that reads nothing', async () => {
  const home = makeHome();
  const { child } = await startClient(home, writeRules(home, RULES));
  child.stdout?.pause();
  const line = `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: META } })}\n`;
  let largest = 0;
  for (let rounds = 0; rounds < 1_000 && child.exitCode === null; rounds += 1) {
    if (child.stdin?.writableLength === 0) child.stdin.write(line.repeat(100));
    await sleep(50);
    largest = Math.max(largest, residentOf(child.pid));
  }
  // Unread output would keep the process from exiting.
  child.stdout?.destroy();
  assert.equal(child.exitCode, 0, 'it ends, as for a client that has gone');
  assert.ok(largest < MEGABYTES, `${largest} MB`);
});
