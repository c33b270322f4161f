// Proves that an agent program receives the MCP servers named in its entry, in the protocol's format, and calls their tools itself, inside its sandbox.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import { acpStage } from './acp-stage.ts';

const SERVER = join(import.meta.dirname, '..', 'servers', 'mcp-server.ts');
const servers = {
  own: {
    command: process.execPath,
    args: [SERVER, '{}'],
    env: { A: 'b' },
    envAllow: ['PATH', 'NOT_SET_AT_ALL'],
  },
  secret: { url: 'http://127.0.0.1:9/mcp', headersEnv: { Authorization: 'NOT_SET_AT_ALL' } },
  far: { url: 'http://127.0.0.1:9/mcp', headers: { 'X-Team': 'five' }, headersEnv: { 'X-Path': 'PATH' } },
};

it('starts one and calls its tool', async (test) => {
  const { ask } = await acpStage(test, [], { servers, mcpServers: ['own'] });
  const { outcome } = await ask('tool said by a tool');
  assert.match(JSON.stringify(outcome), /said by a tool/);
});

it('gets commands, variables, addresses and headers', async (test) => {
  const { ask } = await acpStage(test, ['--mcp-by-http'], { servers, mcpServers: ['own', 'far'] });
  const { outcome } = await ask('servers');
  assert.ok(outcome.type === 'answer');
  const text = outcome.content.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
  assert.deepEqual(JSON.parse(text), [
    {
      name: 'own',
      command: process.execPath,
      args: [SERVER, '{}'],
      env: [
        { name: 'PATH', value: process.env.PATH },
        { name: 'A', value: 'b' },
      ],
    },
    {
      type: 'http',
      name: 'far',
      url: 'http://127.0.0.1:9/mcp',
      headers: [
        { name: 'X-Team', value: 'five' },
        { name: 'X-Path', value: process.env.PATH },
      ],
    },
  ]);
});

it('says what is wrong: a server that is not configured, one whose header is not set, one by HTTP for a program that takes none', async (test) => {
  await assert.rejects(acpStage(test, [], { servers, mcpServers: ['owm'] }), {
    code: 'E_CONFIG',
    message: 'acp.test.mcpServers: there is no MCP server "owm" in the configuration',
    hint: 'Configured: own, secret, far',
  });
  await assert.rejects(acpStage(test, ['--mcp-by-http'], { servers, mcpServers: ['secret'] }), {
    code: 'E_CONFIG',
    message:
      'acp.test.mcpServers: the MCP server "secret" cannot be used: the variable NOT_SET_AT_ALL for its header Authorization is not set',
  });
  const { ask } = await acpStage(test, [], { servers, mcpServers: ['far'] });
  const { outcome } = await ask('servers');
  assert.match(JSON.stringify(outcome), /does not support MCP servers over HTTP, such as far/);
});
