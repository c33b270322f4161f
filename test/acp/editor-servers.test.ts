/**
 * Proves that tools of MCP servers that an editor names for its conversations need approval like all others, also after a restart, and that the servers' keys
 * stay out of the ledger.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, it } from 'node:test';
import type { McpServer } from '@agentclientprotocol/sdk';
import { makeHome } from '../cli/run-cli.ts';
import { closeOpened } from '../close-opened.ts';
import { until } from '../until.ts';
import { openEditor, writeRules } from './editor-client.ts';

after(closeOpened);

const PROGRAM = join(import.meta.dirname, '..', 'servers', 'mcp-server.ts');
const KEY = 'canary-71d0';
const named: McpServer[] = [
  {
    name: 'Team Tools',
    command: process.execPath,
    args: [PROGRAM, '{}'],
    env: [{ name: 'KEY', value: KEY }],
  },
  { name: 'Team.Tools', command: 'false', args: [], env: [] },
  { name: 'mine', command: 'false', args: [], env: [] },
  { name: '日本', command: 'false', args: [], env: [] },
  { type: 'http', name: 'nowhere', url: 'tracker', headers: [] },
  { type: 'sse', name: 'old', url: 'http://127.0.0.1:9/', headers: [] },
];

it('are used in its conversations, new and loaded ones', async () => {
  const home = makeHome();
  home.configure({ mcp: { servers: { mine: { command: process.execPath, args: [PROGRAM, '{}'] } } } });
  const model = writeRules(home, [
    { when: { tool: 'mine__echo' }, say: 'Mine said {{result}}.' },
    { when: { user: '^mine' }, calls: [{ name: 'mine__echo', input: { text: 'own' } }] },
    { when: { tool: 'Team-Tools__echo' }, say: 'They said {{result}}.' },
    { calls: [{ name: 'Team-Tools__echo', input: { text: 'hello' } }] },
  ]);
  const first = await openEditor(home, ['--model', model]);
  const { sessionId } = await first.agent.request('session/new', { cwd: home.work, mcpServers: named });
  const said = first.say(sessionId, 'ask them');
  const asked = await first.nextAsked();
  assert.match(JSON.stringify(asked.params.toolCall), /Team-Tools__echo/);
  asked.choose(asked.params.options.find(({ kind }) => kind === 'allow_once')?.optionId ?? '');
  assert.equal(await said, 'end_turn');
  assert.match(first.text(sessionId, 'agent_message_chunk'), /They said .*hello/);
  const own = first.say(sessionId, 'mine');
  (await first.nextAsked()).choose(asked.params.options[0]?.optionId ?? '');
  assert.equal(await own, 'end_turn');
  assert.match(first.text(sessionId, 'agent_message_chunk'), /Mine said .*own/);
  await until(() => first.told().includes('old'));
  assert.match(first.told(), /server mine of the editor is left out: the configuration has one of this name/);
  assert.match(
    first.told(),
    /server Team.Tools of the editor is left out: another server of the editor is already called Team-Tools here/,
  );
  assert.match(first.told(), /server 日本 of the editor is left out: its name has no letters/);
  assert.match(first.told(), /server nowhere of the editor is left out: Invalid URL/);
  assert.match(first.told(), /server old of the editor is left out: it speaks the old HTTP with SSE/);
  first.child.stdin?.end();
  await first.ended;
  for (const file of readdirSync(dirname(home.database)))
    if (file.startsWith('coppice.db'))
      assert.ok(!readFileSync(join(dirname(home.database), file), 'latin1').includes(KEY), file);

  const second = await openEditor(home, ['--model', model]);
  await second.agent.request('session/load', { sessionId, cwd: home.work, mcpServers: named });
  const again = second.say(sessionId, 'ask them again');
  (await second.nextAsked()).choose(asked.params.options[0]?.optionId ?? '');
  assert.equal(await again, 'end_turn');
  assert.equal(second.text(sessionId, 'agent_message_chunk').split('They said').length, 3);
});
