/**
 * `recorded-server.ts FILE COMMAND…`: starts the program of an MCP server and passes everything on, unchanged. Each call that reaches the server, and each
 * answer to one, becomes a line in FILE.
 */

import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [file = '', command = '', ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
/** Random, because the process id is always the same in a sandbox. */
const server = randomUUID();
const open = new Set<unknown>();

interface Frame {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: { readonly name?: string };
}

function frameOf(line: string): Frame {
  try {
    return JSON.parse(line) as Frame;
  } catch {
    return {};
  }
}

function record(fields: object): void {
  appendFileSync(file, `${JSON.stringify({ server, ...fields })}\n`);
}

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const { id, method, params } = frameOf(line);
    if (method === 'tools/call') {
      open.add(id);
      record({ call: params?.name, open: open.size });
    }
    child.stdin.write(`${line}\n`);
  })
  .on('close', () => child.stdin.end());
createInterface({ input: child.stdout }).on('line', (line) => {
  const { id, method } = frameOf(line);
  if (method === undefined && open.delete(id)) record({ answered: true, open: open.size });
  process.stdout.write(`${line}\n`);
});
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
child.on('exit', (code) => process.exit(code ?? 1));
