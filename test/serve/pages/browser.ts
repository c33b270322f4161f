import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import axe from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';
import type { WebStage } from '../http/web-stage.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const PATIENCE_MS = 30_000;

/** Path of an installed browser; null if there is none. */
export const CHROMIUM =
  (process.env.PATH ?? '')
    .split(delimiter)
    .flatMap((folder) => NAMES.map((name) => join(folder, name)))
    .find((file) => existsSync(file)) ?? null;

/** A real browser. `faults` collects what its pages report: errors, violations of the content security policy, failed loads. */
export interface PageWatch {
  readonly browser: Browser;
  readonly page: Page;
  readonly faults: string[];
  /** Returns the serious and critical violations that axe finds, as text. */
  violations(): Promise<string[]>;
}

/** Opens a page; `npm test` has built the current dashboard. A dialog opened by the page counts as a fault. */
export async function openPage(): Promise<PageWatch> {
  assert.ok(CHROMIUM !== null);
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  const page = await browser.newPage({ viewport: { width: 1200, height: 800 } });
  page.setDefaultTimeout(PATIENCE_MS);
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(`console: ${message.text()}`);
  });
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) =>
      console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`),
    );
  });
  const session = await page.context().newCDPSession(page);
  return {
    browser,
    page,
    faults,
    async violations() {
      // Not a script element: the page's content security policy forbids it, and stays in force.
      const { result } = await session.send('Runtime.evaluate', {
        expression: `${axe.source}; axe.run().then(({ violations }) => JSON.stringify(violations))`,
        awaitPromise: true,
      });
      const found = JSON.parse(String(result.value)) as readonly Violation[];
      return found
        .filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
    },
  };
}

interface Violation {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string }[];
}

/** Signs the browser in with a single-use link, and waits for the list of trees. */
export async function signIn(page: Page, web: WebStage): Promise<void> {
  const { json: link } = await web.ask('/v1/login-links', { method: 'POST', body: {} });
  await page.goto(link.url);
  await page.getByRole('heading', { name: 'Trees' }).waitFor();
}

const LOOKS = [
  ['light', 1_200],
  ['dark', 360],
] as const;
/** Also pictures of these, for people, if SHOTS names a folder. */
const PICTURES = [1_440, 1_024, 390].flatMap((width) =>
  (['light', 'dark'] as const).map((scheme) => [scheme, width] as const),
);

/** Checks the page in light in a wide window and in dark on a phone: no serious violation, nothing to scroll sideways. */
export async function assertLooks({ page, violations }: PageWatch, name: string): Promise<void> {
  const as = async (colorScheme: 'light' | 'dark', width: number) => {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 800 });
  };
  for (const [scheme, width] of LOOKS) {
    await as(scheme, width);
    assert.deepEqual(await violations(), [], `${name} ${scheme} ${width}`);
  }
  // Between them, where tables have just enough room to be ones, too.
  for (const width of [1_200, 780, 700, 360]) {
    await as('light', width);
    const beyond = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    assert.ok(Number(beyond) <= 0, `${name} ${width}: ${beyond} pixels too wide`);
  }
  const { SHOTS } = process.env;
  for (const [scheme, width] of SHOTS === undefined ? [] : PICTURES) {
    await as(scheme, width);
    await page.screenshot({ path: join(SHOTS ?? '', `${name}-${width}-${scheme}.png`) });
  }
  await as('light', 1_200);
}
