import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { percentile } from '../percentile.ts';
import { makeServerFolder, type ServerProcess } from '../server-process.ts';
import { askServer, signInLink } from './ask-server.ts';
import { cpuOf } from './process-costs.ts';

const CHILDREN = 100;
/** Calls of each child: long enough to be measured in clock ticks. */
const CALLS = 25;
const DASHBOARDS = 3;
const PAIRS = 5;
const LOOK_MS = 250;

interface Measured {
  readonly cpu_ms: number;
  readonly wall_ms: number;
}

/** What open dashboards cost the process that leads the agents: a fan-out in turn without and with them, on one server, by CPU. */
export async function watchedFanout(browser: Browser): Promise<void> {
  const models = spawn(
    process.execPath,
    [join(import.meta.dirname, '..', 'fanout', 'server.ts'), 'read', String(CALLS)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const [port] = (await once(models.stdout, 'data')) as [Buffer];
  const place = makeServerFolder({ rules: [{ say: 'nobody asks here' }] });
  configure(place.folder, `http://127.0.0.1:${Number(port.toString())}/1/v1`);
  const server = await place.start();
  try {
    const context = await browser.newContext();
    const pages = await Promise.all(Array.from({ length: DASHBOARDS }, () => context.newPage()));
    await pages[0]?.goto(await signInLink(server));
    await pages[0]?.waitForURL('**/');
    const close = () => Promise.all(pages.map((page) => page.goto('about:blank')));
    await close();
    for (let warm = 0; warm < 2; warm += 1) await fanout(server, pages);
    await close();
    const pairs: { readonly alone: Measured; readonly watched: Measured }[] = [];
    for (let pair = 0; pair < PAIRS; pair += 1) {
      const [first, second] = pair % 2 === 0 ? [[], pages] : [pages, []];
      const one = await fanout(server, first);
      await close();
      const other = await fanout(server, second);
      await close();
      pairs.push(first.length === 0 ? { alone: one, watched: other } : { alone: other, watched: one });
    }
    console.log(
      `fan-out of ${CHILDREN} × ${CALLS} calls led by the server, ${DASHBOARDS} dashboards on its page, ${PAIRS} pairs in turn`,
    );
    for (const { alone, watched } of pairs)
      console.log(
        `  CPU             ${alone.cpu_ms} ms alone, ${watched.cpu_ms} ms watched: ${more(alone.cpu_ms, watched.cpu_ms)} (wall ${alone.wall_ms.toFixed(0)} and ${watched.wall_ms.toFixed(0)} ms)`,
      );
    const median = (of: 'alone' | 'watched') =>
      percentile(
        pairs.map((pair) => pair[of].cpu_ms),
        0.5,
      );
    console.log(`  median          ${more(median('alone'), median('watched'))}`);
  } finally {
    server.stop();
    models.kill();
  }
}

function configure(folder: string, baseURL: string): void {
  writeFileSync(join(folder, 'notes.md'), 'A line.\n');
  mkdirSync(join(folder, 'config', 'coppice'), { recursive: true });
  writeFileSync(
    join(folder, 'config', 'coppice', 'config.json'),
    JSON.stringify({
      providers: { local: { type: 'openai-compatible', baseURL } },
      agents: {
        defaults: {
          permissions: { allow: ['*'] },
          limits: { children: CHILDREN, live: CHILDREN + 1, total: CHILDREN + 1 },
        },
      },
    }),
  );
}

function more(alone: number, watched: number): string {
  const percent = (watched / alone - 1) * 100;
  return `${percent < 0 ? '' : '+'}${percent.toFixed(1)} %`;
}

/** A tree that the pages show, from when it is told to fork until its root rests. */
async function fanout(server: ServerProcess, pages: readonly Page[]): Promise<Measured> {
  const { id } = await askServer<{ readonly id: string }>(server, '/v1/trees', {
    prompt: 'Wait for work.',
    model: 'local/m',
  });
  const rests = async (messages: number) => {
    for (;;) {
      const root = await askServer<{ readonly state: string; readonly messages: number }>(
        server,
        `/v1/agents/${id}`,
      );
      if (root.state === 'idle' && root.messages > messages) return root.messages;
      if (root.state === 'errored') throw new Error('the fan-out failed');
      await pause(LOOK_MS);
    }
  };
  const messages = await rests(1);
  for (const page of pages) {
    await page.goto(`${server.url}/trees/${id}`);
    await page.waitForSelector('.lane-bars[data-painted]');
  }
  const cpu = cpuOf(server.pid);
  const began = performance.now();
  await askServer(server, `/v1/agents/${id}/send`, { text: `FORK ${CHILDREN}` });
  await rests(messages + 1);
  return { cpu_ms: cpuOf(server.pid) - cpu, wall_ms: performance.now() - began };
}
