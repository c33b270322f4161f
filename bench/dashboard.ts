import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Browser, chromium, type Page } from 'playwright-core';
import { openStore } from '../src/store/open-store.ts';
import { signInLink } from './dashboard/ask-server.ts';
import { writeLargeTree } from './dashboard/large-tree.ts';
import { memoryOf } from './dashboard/process-costs.ts';
import { watchedFanout } from './dashboard/watched-fanout.ts';
import { machineLine } from './machine-line.ts';
import { percentile } from './percentile.ts';
import { makeServerFolder } from './server-process.ts';

/**
 * `npm run bench:dashboard -- [--agents 300] [--steps 30000] [--browser /usr/bin/chromium] [--shots FOLDER] [--only page|fanout] [--clients]`: measures the
 * page of a large tree in a real browser: first paint, frames while it scrolls and zooms, memory, and the size of the timeline on the wire. Then measures
 * what three open dashboards cost a server that leads a fan-out; `--clients`: clients without a browser instead of dashboards.
 */
const { values } = parseArgs({
  options: {
    agents: { type: 'string', default: '300' },
    steps: { type: 'string', default: '30000' },
    browser: { type: 'string', default: '/usr/bin/chromium' },
    shots: { type: 'string' },
    only: { type: 'string' },
    clients: { type: 'boolean', default: false },
  },
});
const SIZE = { width: 1440, height: 900 };
const FRAMES = 120;
if (values.shots !== undefined) mkdirSync(values.shots, { recursive: true });
/** Milliseconds between frames while `move` moves the page. */
async function framesOf(page: Page, move: (frame: number) => Promise<void>): Promise<number[]> {
  await page.evaluate(() => {
    const times: number[] = [];
    Object.assign(window, { frame_times: times });
    const tick = (at: number) => {
      times.push(at);
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  });
  for (let frame = 0; frame < FRAMES; frame += 1) await move(frame);
  const times = await page.evaluate(() => (window as unknown as { frame_times: number[] }).frame_times);
  return times.slice(1).map((at, index) => at - (times[index] as number));
}

function told(gaps: readonly number[]): string {
  const sum = gaps.reduce((all, gap) => all + gap, 0);
  return `${((gaps.length / sum) * 1_000).toFixed(0)} frames a second; a frame p50 ${percentile(gaps, 0.5).toFixed(0)} ms, p95 ${percentile(gaps, 0.95).toFixed(0)} ms`;
}

async function measure(page: Page, link: string, root_id: string): Promise<void> {
  await page.goto(link);
  await page.waitForURL('**/');
  const client = await page.context().newCDPSession(page);
  await client.send('Network.enable');
  let wire = 0;
  const ids = new Set<string>();
  client.on('Network.responseReceived', ({ requestId, response }) => {
    if (response.url.endsWith('/timeline') && ids.size === 0) ids.add(requestId);
  });
  client.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (ids.has(requestId) && wire === 0) wire = encodedDataLength;
  });
  for (const what of ['first time', 'again']) {
    wire = 0;
    ids.clear();
    await page.goto('about:blank');
    const began = performance.now();
    await page.goto(`${new URL(link).origin}/trees/${root_id}`, { waitUntil: 'commit' });
    await page.waitForSelector('.lane-bars[data-painted]');
    const first = performance.now() - began;
    await page.waitForSelector('.lane-bars[data-painted=bars]');
    console.log(
      `  painted         ${first.toFixed(0)} ms after the address was entered, with all bars ${(performance.now() - began).toFixed(0)} ms, the ${what}; timeline ${(wire / 1e3).toFixed(0)} KB on the wire`,
    );
  }
  const shoot = async (name: string) => {
    if (values.shots !== undefined) await page.screenshot({ path: join(values.shots, `${name}.png`) });
  };
  await shoot('tree');
  const folded = page.locator('.lane-name button[aria-expanded=false]');
  for (let opened = 0; opened < 5 && (await folded.count()) > 0; opened += 1) await folded.first().click();
  await shoot('tree-open');
  const box = await page.locator('.lane-bars').boundingBox();
  if (box === null) throw new Error('the picture is not shown');
  await page.mouse.move(box.x + box.width / 2, box.y + 200);
  console.log(
    `  scrolling       ${told(await framesOf(page, (frame) => page.mouse.wheel(0, frame < FRAMES / 2 ? 90 : -90)))}`,
  );
  await page.keyboard.down('Control');
  console.log(
    `  zooming         ${told(await framesOf(page, (frame) => page.mouse.wheel(0, frame < FRAMES / 2 ? -40 : 40)))}`,
  );
  await page.keyboard.up('Control');
  const { usedSize } = (await client.send('Runtime.getHeapUsage')) as { usedSize: number };
  await client.send('HeapProfiler.collectGarbage');
  const { usedSize: kept } = (await client.send('Runtime.getHeapUsage')) as { usedSize: number };
  console.log(
    `  memory          ${(usedSize / 1e6).toFixed(0)} MB of script heap, ${(kept / 1e6).toFixed(0)} MB after a collection`,
  );
  const { resident, own } = await rendererMemory(browser);
  console.log(
    `  process         ${resident.toFixed(0)} MB resident, ${own.toFixed(0)} MB of them its own, not shared with the browser`,
  );
  if (values.shots === undefined) return;
  await page.mouse.click(box.x + box.width / 3, box.y + 130);
  for (const key of ['+', '+', '+', '+']) await page.locator('.tree-picture').press(key);
  await page.mouse.click(box.x + box.width / 2, box.y + 130);
  await shoot('tree-zoomed');
  for (const tab of ['Cost', 'Messages', 'Tree']) {
    await page.getByRole('tab', { name: tab }).click();
    await page.waitForTimeout(600);
    await page.getByRole('tabpanel').scrollIntoViewIfNeeded();
    await shoot(`tree-${tab.toLowerCase()}`);
  }
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.getByRole('tab', { name: 'Tokens' }).click();
  await page.evaluate(() => window.scrollTo(0, 0));
  await page.waitForTimeout(200);
  await shoot('tree-dark');
}

/** Memory in MB of the browser's largest renderer process. */
async function rendererMemory(
  browser: Browser,
): Promise<{ readonly resident: number; readonly own: number }> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  const renderers = processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => memoryOf(id));
  return renderers.reduce((most, one) => (one.own > most.own ? one : most));
}

async function largePage(browser: Browser): Promise<void> {
  const { agents, steps } = values;
  console.log(`dashboard: ${agents} agents, ${steps} steps`);
  const place = makeServerFolder({ rules: [{ say: 'nobody asks here' }] });
  const store = await openStore(place.database);
  const root_id = await writeLargeTree(store, { agents: Number(agents), steps: Number(steps) });
  await store.close();
  const server = await place.start();
  try {
    await measure(await browser.newPage({ viewport: SIZE }), await signInLink(server), root_id);
  } finally {
    server.stop();
  }
}

console.log(machineLine());
const browser = await chromium.launch({ executablePath: values.browser, args: ['--no-sandbox'] });
try {
  if (values.only !== 'fanout') await largePage(browser);
  if (values.only !== 'page') await watchedFanout(values.clients ? null : browser);
} finally {
  await browser.close();
}
