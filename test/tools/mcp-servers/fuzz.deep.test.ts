/**
 * Proves that nothing that an MCP server sends does harm: 100,000 random frames and 2,000 invalid answers cause no crash, no hang and no unhandled error, and
 * requests among them are answered as the specification says.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { toolResultOfCall } from '../../../src/tools/mcp-servers/call-result.ts';
import { McpError } from '../../../src/tools/mcp-servers/mcp-error.ts';
import { McpServer } from '../../../src/tools/mcp-servers/mcp-server.ts';
import { closeLater, closeOpened } from '../../close-opened.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { toolOf } from './servers.ts';

after(closeOpened);

const PROGRAM = join(import.meta.dirname, '..', '..', 'servers', 'mcp-fuzzer.ts');
const faults: unknown[] = [];
process.on('unhandledRejection', (fault) => faults.push(fault));
process.on('uncaughtException', (fault) => faults.push(fault));

function fuzzer(): McpServer {
  const config = { command: process.execPath, args: [PROGRAM], timeoutSeconds: 60 };
  const server = new McpServer('fuzz', config, { cwd: temporaryFolder(), env: process.env, sandbox: null });
  closeLater(() => server.close());
  return server;
}

const call = async (server: McpServer, name: string, input: Record<string, unknown>) =>
  server.call(await toolOf(server, name), input, {
    signal: new AbortController().signal,
    onProgress: () => undefined,
  });

for (let seed = 1; seed <= 20; seed += 1)
  it(`5,000 frames of seed ${seed}`, async () => {
    const server = fuzzer();
    const answer = await call(server, 'fuzz', { seed, frames: 5_000 });
    const [block] = answer.content as readonly { readonly text: string }[];
    const told = JSON.parse(block?.text ?? '{}');
    assert.deepEqual([told.wrong, told.unanswered], [[], []]);
    assert.ok(told.asked > 300, `${told.asked} requests`);
    assert.deepEqual(faults, []);
    await server.close();
  });

it('2,000 answers that are none', async () => {
  const server = fuzzer();
  const spill_dir = temporaryFolder();
  let [fine, refused] = [0, 0];
  const ask = async (seed: number): Promise<void> => {
    try {
      const result = await toolResultOfCall(await call(server, 'answer', { seed }), { spill_dir });
      assert.equal(typeof result.output, 'string');
      fine += 1;
    } catch (error) {
      assert.ok(error instanceof McpError, String(error));
      refused += 1;
    }
  };
  for (let from = 1; from <= 2_000; from += 100)
    await Promise.all(Array.from({ length: 100 }, (_, at) => ask(from + at)));
  assert.ok(fine > 50 && refused > 50, `${fine} fine, ${refused} refused`);
  assert.deepEqual(faults, []);
});
