import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { percentile } from '../percentile.ts';
import { makeServerFolder, type ServerProcess } from '../server-process.ts';
import { askServer, signInLink } from './ask-server.ts';
import { followTree } from './light-client.ts';
import { cpuOf } from './process-costs.ts';

const CHILDREN = 100;
/** Calls of each child, enough to be measured in clock ticks. */
const CALLS = 25;
const DASHBOARDS = 3;
const PAIRS = 12;
const LOOK_MS = 250;

interface Measured {
  readonly cpu_ms: number;
  readonly wall_ms: number;
}

/** Viewers of a tree: pages of a browser, or clients that send the same requests and render nothing. */
interface Watchers {
  open(root_id: string): Promise<void>;
  close(): Promise<void>;
}

/** Measures what open dashboards cost the process that leads the agents: CPU of a fan-out without and with them, alternating, on one server. */
export async function watchedFanout(browser: Browser | null): Promise<void> {
  const models = spawn(
    process.execPath,
    [join(import.meta.dirname, '..', 'fanout', 'server.ts'), 'read', String(CALLS)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const [port] = (await once(models.stdout, 'data')) as [Buffer];
  const place = makeServerFolder({ rules: [{ say: 'nobody asks here' }] });
  configure(place.folder, `http://127.0.0.1:${Number(port.toString())}/1/v1`);
  const server = await place.start();
  const store = await openStore(place.database);
  try {
    const watchers = browser === null ? clientsOf(server) : await pagesOf(server, browser);
    for (let warm = 0; warm < 2; warm += 1) await fanout(server, store, watchers);
    const pairs: { readonly alone: Measured; readonly watched: Measured }[] = [];
    for (let pair = 0; pair < PAIRS; pair += 1) {
      const alone_first = pair % 2 === 0;
      const one = await fanout(server, store, alone_first ? null : watchers);
      const other = await fanout(server, store, alone_first ? watchers : null);
      pairs.push(alone_first ? { alone: one, watched: other } : { alone: other, watched: one });
    }
    console.log(
      `fan-out of ${CHILDREN} × ${CALLS} calls led by the server, watched by ${DASHBOARDS} ${browser === null ? 'clients' : 'pages'}, ${PAIRS} pairs in turn`,
    );
    for (const { alone, watched } of pairs)
      console.log(
        `  CPU             ${alone.cpu_ms} ms alone, ${watched.cpu_ms} ms watched: ${more(alone, watched)} (wall ${alone.wall_ms.toFixed(0)} and ${watched.wall_ms.toFixed(0)} ms)`,
      );
    const shares = pairs.map(({ alone, watched }) => watched.cpu_ms / alone.cpu_ms);
    const median = percentile(shares, 0.5);
    console.log(`  median          ${more({ cpu_ms: 1 }, { cpu_ms: median })}`);
  } finally {
    await store.close();
    server.stop();
    models.kill();
  }
}

function clientsOf(server: ServerProcess): Watchers {
  let follow: (() => Promise<unknown>)[] = [];
  return {
    open: async (root_id) => {
      follow = await Promise.all(Array.from({ length: DASHBOARDS }, () => followTree(server, root_id)));
    },
    close: async () => {
      await Promise.all(follow.map((end) => end()));
    },
  };
}

async function pagesOf(server: ServerProcess, browser: Browser): Promise<Watchers> {
  const context = await browser.newContext();
  const pages = await Promise.all(Array.from({ length: DASHBOARDS }, () => context.newPage()));
  await pages[0]?.goto(await signInLink(server));
  await pages[0]?.waitForURL('**/');
  const close = async () => {
    for (const page of pages) await page.goto('about:blank');
  };
  await close();
  return {
    open: async (root_id) => {
      for (const page of pages) {
        await page.goto(`${server.url}/trees/${root_id}`);
        await page.waitForSelector('.lane-bars[data-painted]');
      }
    },
    close,
  };
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

function more(alone: Pick<Measured, 'cpu_ms'>, watched: Pick<Measured, 'cpu_ms'>): string {
  const percent = (watched.cpu_ms / alone.cpu_ms - 1) * 100;
  return `${percent < 0 ? '' : '+'}${percent.toFixed(1)} %`;
}

/** Measures a tree with its viewers, from the order to fork until its root rests. */
async function fanout(server: ServerProcess, store: Store, watchers: Watchers | null): Promise<Measured> {
  const { id } = await askServer<{ readonly id: string }>(server, '/v1/trees', {
    prompt: 'Wait for work.',
    model: 'local/m',
  });
  // Reads the ledger instead of asking the server, which would cost it more if a fan-out takes longer.
  const rests = async (messages: number) => {
    for (;;) {
      const root = await store.agent(id);
      if (root?.state.type === 'idle' && root.last_seq > messages) return root.last_seq;
      if (root?.state.type === 'errored') throw new Error('the fan-out failed');
      await pause(LOOK_MS);
    }
  };
  const messages = await rests(1);
  await watchers?.open(id);
  const cpu = cpuOf(server.pid);
  const began = performance.now();
  await askServer(server, `/v1/agents/${id}/send`, { text: `FORK ${CHILDREN}` });
  await rests(messages + 1);
  const measured = { cpu_ms: cpuOf(server.pid) - cpu, wall_ms: performance.now() - began };
  await watchers?.close();
  return measured;
}
