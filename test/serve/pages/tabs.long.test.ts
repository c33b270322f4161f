// Proves in a real browser that as many tabs of the dashboard can be open as a person likes, although browsers give one server six connections: those that are
// hidden hold none, and follow again once they are looked at; that windows beside each other leave connections for requests; and that every page says so when the server is not reached any more.
import { it } from 'node:test';
import type { Page } from 'playwright-core';
import { setWebStage } from '../http/web-stage.ts';
import { CHROMIUM, openPage, signIn } from './browser.ts';

const skip = CHROMIUM === null ? 'chromium is not installed' : false;

/** Headless browsers take every tab for one that is looked at. */
const look = (tab: Page, state: 'hidden' | 'visible') =>
  tab.evaluate((now) => {
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => now });
    document.dispatchEvent(new Event('visibilitychange'));
  }, state);

it('eight tabs are open, the hidden ones without a stream; the first goes on where it is looked at again', {
  skip,
}, async () => {
  const web = await setWebStage(({ user }) => `${user} is done`);
  const watch = await openPage();
  try {
    const context = await watch.browser.newContext();
    const page = await context.newPage();
    await signIn(page, web);
    await web.stage.start('the oldest');
    const tabs = [page];
    for (let count = 0; count < 7; count += 1) {
      await look(tabs.at(-1) as Page, 'hidden');
      const tab = await context.newPage();
      tabs.push(tab);
      const streams = tab.waitForRequest(/\/v1\/events/);
      await tab.goto(`${web.url}/trees`);
      await tab.getByRole('link', { name: 'the oldest' }).waitFor();
      await streams;
    }
    await look(tabs.at(-1) as Page, 'hidden');
    await look(page, 'visible');
    await web.stage.start('the newest');
    await page.getByRole('link', { name: 'the newest' }).waitFor();
  } finally {
    await watch.browser.close();
    await web.close();
  }
});

it('seven windows that are all looked at show what is new', { skip }, async () => {
  const web = await setWebStage(({ user }) => `${user} is done`);
  const watch = await openPage();
  try {
    const context = await watch.browser.newContext();
    const windows = [await context.newPage()];
    await signIn(windows[0] as Page, web);
    await web.stage.start('the oldest');
    while (windows.length < 7) {
      const one = await context.newPage();
      windows.push(one);
      await one.goto(`${web.url}/trees`);
      await one.getByRole('link', { name: 'the oldest' }).waitFor();
    }
    await web.stage.start('the newest');
    for (const one of windows) await one.getByRole('link', { name: 'the newest' }).waitFor();
  } finally {
    await watch.browser.close();
    await web.close();
  }
});

it('a server that went away is told by the page of a tree, its cockpit and a list', { skip }, async () => {
  const web = await setWebStage(({ user }) => `${user} is done`);
  let serves = true;
  const watch = await openPage();
  try {
    const context = await watch.browser.newContext();
    const page = await context.newPage();
    await signIn(page, web);
    const { id } = await web.stage.start('a task');
    await web.stage.runtime.settled(id);
    const tabs = [page];
    for (const path of [`/trees/${id}`, `/trees/${id}/live`, '/trees']) {
      const tab = path === '/trees' ? page : await context.newPage();
      if (tab !== page) tabs.push(tab);
      const streams = tab.waitForResponse(/\/v1\/events/);
      await tab.goto(`${web.url}${path}`);
      await streams;
      await tab.getByText('a task').first().waitFor();
    }
    serves = false;
    await web.close();
    for (const tab of tabs) await tab.getByText('the server does not answer').first().waitFor();
  } finally {
    await watch.browser.close();
    if (serves) await web.close();
  }
});
