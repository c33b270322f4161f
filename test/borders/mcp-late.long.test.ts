/**
 * Proves that a server that does not answer holds no agent up: it begins without its tools, a person and the model are told so once, and the tools come when the
 * server answers.
 */
import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import type { Tool } from '../../src/records/tool.ts';
import { closeOpened } from '../close-opened.ts';
import { agentWith, serverConfig, testingHost } from '../tools/mcp-servers/servers.ts';
import { call, makeWorkspace } from '../tools/tool-fixture.ts';
import { GREETING, OBJECT, rawAddress, WRITTEN } from './raw-mcp.ts';

after(closeOpened);

it('a server that answers late', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const url = await rawAddress(
    ({ id, method }, _, response) => {
      if (method === 'tools/call') return { content: 'sung' };
      if (method === 'tools/list') return { tools: [{ name: 'sing', inputSchema: OBJECT }, {}] };
      void released.then(() => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ jsonrpc: '2.0', id, result: GREETING }));
      });
      return WRITTEN;
    },
    { greets: true },
  );
  const host = testingHost({ servers: { t: serverConfig(), late: { url } } });
  const agent = agentWith(['t__*', 'late__*']);
  const { tools, faults, note, find } = await host
    .offer(agent)
    .then((offer) => ({ ...offer, find: offer.find.bind(offer) }));
  const named = (name: string) => tools.find(({ spec }) => spec.name === name) as Tool;
  const run = async (tool: Tool, input: object) => (await call(tool, input, makeWorkspace())).output;
  assert.deepEqual(faults, [
    'the MCP server late has not answered yet: agents begin without it, its tools come when it does',
  ]);
  assert.match(note, /^The tools of the MCP server late are not available: it has not answered yet/);
  assert.ok(tools.every(({ spec }) => !spec.name.startsWith('late__')));
  assert.equal(await run(named('t__echo'), { text: 'at work' }), 'at work');
  const again = await host.offer({ ...agent, config: { ...agent.config } });
  assert.deepEqual([again.faults, again.note], [[], note]);
  assert.match(await run(named('find_tools'), { query: 'sing' }), /have not answered so far: late$/);
  const meant = named('call_tool').stands_for?.({ name: 'late__sing' });
  assert.match(JSON.stringify(meant), /there is no tool.*have not answered so far: late/);

  release();
  let found = '';
  while (!found.includes('late__sing')) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    found = await run(named('find_tools'), { query: 'sing' });
  }
  assert.doesNotMatch(found, /not answered/);
  assert.match(await run(find('late__sing') as Tool, {}), /^sung\n.*have changed: new: late__sing/);
  const later = await host.offer({ ...agent, config: { ...agent.config } });
  assert.deepEqual(
    [later.faults, later.note],
    [['the MCP server late: a tool is set aside: tool 2 (it has no name)'], ''],
  );
});
