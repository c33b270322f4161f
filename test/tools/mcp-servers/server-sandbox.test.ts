/** Proves that the program of an MCP server is confined to the sandbox of its agents' folder. Real programs, real sandboxes. */
import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { programSandbox } from '../../../src/settings/sandbox-of.ts';
import { McpServer } from '../../../src/tools/mcp-servers/mcp-server.ts';
import { closeOpened } from '../../close-opened.ts';
import { bundledProgram } from '../../processes/sandbox/bundled-program.ts';
import { NO_SANDBOX, testSandbox } from '../../processes/sandbox/test-sandbox.ts';
import { PROGRAM, toolOf } from './servers.ts';

const watch = { signal: new AbortController().signal, onProgress: () => undefined };
// Not below /tmp, because a sandbox has its own /tmp.
const place = realpathSync(mkdtempSync('/var/tmp/coppice-test-'));
after(async () => {
  await closeOpened();
  rmSync(place, { recursive: true, force: true });
});

it('a server writes in its folder, and neither writes nor reads what is outside', {
  skip: NO_SANDBOX,
}, async () => {
  const [cwd, secret, outside] = ['work', 'secret', 'outside'].map((name) => join(place, name)) as [
    string,
    string,
    string,
  ];
  mkdirSync(cwd);
  writeFileSync(secret, 'canary-77');
  const sandbox = testSandbox({ hidden: [secret] });
  const [command, file] = await bundledProgram(PROGRAM, place);
  const config = { command, args: [file, '{}'] };
  const server = new McpServer('t', config, { cwd, env: { PATH: process.env.PATH }, sandbox });
  try {
    const shell = `echo mine > own; echo theirs > ${outside}; cat ${secret}`;
    const tool = await toolOf(server, 'shell');
    const answer = await server.call(tool, { command: shell }, watch);
    assert.doesNotMatch(JSON.stringify(answer), /canary-77/);
    assert.equal(readFileSync(join(cwd, 'own'), 'utf8'), 'mine\n');
    assert.ok(!existsSync(outside));
  } finally {
    await server.close();
  }
});

it('a server has sockets of the file system if its entry says so, and no other program has', {
  skip: NO_SANDBOX,
}, async () => {
  const cwd = join(place, 'sockets');
  mkdirSync(cwd);
  const [command, file] = await bundledProgram(PROGRAM, place);
  const config = { command, args: [file, '{}'] };
  const listening = async (sockets: object): Promise<string> => {
    const sandbox = programSandbox({}, sockets, {}, null, 'mcp.servers.t');
    const server = new McpServer('t', config, { cwd, env: { PATH: process.env.PATH }, sandbox });
    try {
      const script = `require('net').createServer().on('error', (e) => console.log(e.code)).listen('/tmp/s', function () { console.log('open'); this.close(); })`;
      const tool = await toolOf(server, 'shell');
      const input = { command: `'${command}' -e "${script}"` };
      return JSON.stringify(await server.call(tool, input, watch));
    } finally {
      await server.close();
    }
  };
  assert.match(await listening({ sockets: true }), /open/);
  assert.match(await listening({}), /EPERM/);
});
