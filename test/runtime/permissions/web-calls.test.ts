/** Proves that reading the web needs approval by default, that grants apply by host, that redirects are checked like calls, and that planning permits it. */
import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import { createBuiltInTools } from '../../../src/tools/tool-registry.ts';
import { closeOpened } from '../../close-opened.ts';
import { webServer } from '../../tools/web/web-server.ts';
import { setStage } from '../stage.ts';
import { withApprovals } from './approval-stage.ts';

afterEach(closeOpened);

const NONE = { allow: [], ask: [], deny: [] };

async function stage(
  urls: readonly string[],
  config: { allow?: string[]; ask?: string[]; deny?: string[]; mode?: 'plan' } = {},
) {
  const { mode, ...cli } = config;
  const on = await setStage(
    ({ step }) => (urls[step] === undefined ? 'done' : [['web_fetch', { url: urls[step] }]]),
    {
      tools: createBuiltInTools({ web: { private_hosts: ['127.0.0.1', 'localhost'], robots: false } }),
      config: { permissions: { cli: { ...NONE, ...cli }, config: NONE, ...(mode && { mode }) } },
      can_ask: true,
    },
  );
  return withApprovals(on, []);
}

it('asks with the address, and a grant for a host answers for its other pages only', async () => {
  const { origin, asked, port } = await webServer({ '/one': '<p>First page', '/two': '<p>Second page' });
  const other = `http://localhost:${port}`;
  const on = await stage([`${origin}/one#part`, `${origin}/two`, `${other}/one`, 'http://10.0.0.1/']);
  const root = await on.start();
  const [ask] = await on.asked(root);
  assert.deepEqual(
    [ask?.tool, ask?.subject, ask?.subject_kind, ask?.rule],
    ['web_fetch', `${origin}/one`, 'url', 'ask(web_fetch), the default'],
  );
  assert.deepEqual(asked, []);
  await on.allow(ask, 'session', `web_fetch:http://127.0.0.1:${port}/*`);
  const [next] = await on.asked(root);
  assert.equal(next?.subject, `${other}/one`);
  await on.deny(next, 'no');
  await on.runtime.settled(root.id);
  const results = await on.results(root);
  assert.deepEqual(
    results.map(({ status }) => status),
    ['ok', 'ok', 'denied', 'error'],
  );
  assert.match(results[1]?.output ?? '', /Second page/);
  assert.match(results[3]?.output ?? '', /private network/);
  assert.deepEqual(asked, ['/one', '/two']);
});

it('a redirect to what rules deny, or would ask about, is not followed', async () => {
  const { origin, asked, port } = await webServer({
    '/docs/a': (_, response) => void response.writeHead(302, { location: '/secret/x' }).end(),
    '/docs/b': (_, response) => void response.writeHead(302, { location: '/elsewhere' }).end(),
    '/docs/c': (_, response) => void response.writeHead(302, { location: '/docs/d' }).end(),
    '/docs/d': '<p>Arrived',
  });
  const on = await stage(
    ['a', 'b', 'c'].map((name) => `${origin}/docs/${name}`),
    {
      allow: [`web_fetch:http://127.0.0.1:${port}/docs/*`],
      deny: ['web_fetch:http://127.0.0.1/secret/*'],
    },
  );
  const root = await on.start();
  await on.runtime.settled(root.id);
  const [denied, asks, arrived] = await on.results(root);
  assert.match(denied?.output ?? '', /leads to .*\/secret\/x, which was not read/);
  assert.match(asks?.output ?? '', /leads to .*\/elsewhere, which was not read/);
  assert.match(arrived?.output ?? '', /Arrived/);
  assert.deepEqual(asked, ['/docs/a', '/docs/b', '/docs/c', '/docs/d']);
});

it('planning denies what changes something, and leaves reading the web to its rules', async () => {
  const { origin } = await webServer({ '/': '<p>Plan with me' });
  const on = await stage([`${origin}/`], { allow: ['web_fetch'], mode: 'plan' });
  const root = await on.start();
  await on.runtime.settled(root.id);
  assert.match((await on.results(root))[0]?.output ?? '', /Plan with me/);
});
