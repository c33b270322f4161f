import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { defineTool, openCoppice } from '../src/coppice.ts';

/**
 * `npm run bench:fanout`: N children × 3 calls of an in-process tool that does nothing, streaming, through the public library with SQLite on disk; beside it, in
 * the same run, a bare loop of `fetch` that sends the same conversations and keeps nothing. Each measurement is a process of its own.
 */
const SIZES = [1, 10, 100, 1000];
const TOOL = { name: 'noop', description: 'Does nothing.' };

interface Measurement {
  readonly wall_ms: number;
  readonly cpu_ms: number;
  readonly peak_mb: number;
}

async function measured(work: () => Promise<void>): Promise<Measurement> {
  const cpu = process.cpuUsage();
  const started_at = performance.now();
  await work();
  const used = process.cpuUsage(cpu);
  return {
    wall_ms: performance.now() - started_at,
    cpu_ms: (used.user + used.system) / 1000,
    peak_mb: process.resourceUsage().maxRSS / 1024,
  };
}

async function coppice(url: string, count: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'coppice-bench-'));
  const noop = defineTool({
    ...TOOL,
    input: z.strictObject({ n: z.number() }),
    side_by_side: true,
    idempotent: true,
    run: async () => 'ok',
  });
  const runtime = await openCoppice({
    database: `sqlite:${join(folder, 'ledger.db')}`,
    model: 'local/m',
    providers: { local: { type: 'openai-compatible', baseURL: `${url}/v1` } },
    tools: [noop],
    builtInTools: [],
    limits: { children: count, live: count + 1, total: count + 1 },
  });
  const agent = await runtime.start({ prompt: `FORK ${count}` });
  const { reply, agents } = await agent.result();
  const calls = agents.reduce((sum, one) => sum + one.calls, 0);
  if (reply !== 'all done' || calls !== count * 4 + 1) throw new Error(`wrong: ${reply}, ${calls} calls`);
  await runtime.close();
  rmSync(folder, { recursive: true });
}

type Message = Record<string, unknown>;

/** One request as anybody would write it: fetch, decode, split, parse, put together. */
async function ask(
  url: string,
  messages: readonly Message[],
): Promise<{ text: string; calls: { id: string; name: string; arguments: string }[] }> {
  const tools = [
    {
      type: 'function',
      function: { ...TOOL, parameters: { type: 'object', properties: { n: { type: 'number' } } } },
    },
  ];
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', messages, tools, stream: true }),
  });
  const decoder = new TextDecoder();
  let [buffer, text] = ['', ''];
  const calls: { id: string; name: string; arguments: string }[] = [];
  for await (const part of response.body as unknown as AsyncIterable<Uint8Array>) {
    buffer += decoder.decode(part, { stream: true });
    for (let end = buffer.indexOf('\n\n'); end >= 0; end = buffer.indexOf('\n\n')) {
      const data = buffer.slice(6, end);
      buffer = buffer.slice(end + 2);
      if (data === '[DONE]') continue;
      const delta = JSON.parse(data).choices[0]?.delta ?? {};
      text += delta.content ?? '';
      for (const call of delta.tool_calls ?? []) calls.push({ id: call.id, ...call.function });
    }
  }
  return { text, calls };
}

async function bare(url: string, count: number): Promise<void> {
  const first: Message[] = [
    { role: 'system', content: 'You are an agent.' },
    { role: 'user', content: `FORK ${count}` },
  ];
  const forks = await ask(url, first);
  const shared: Message[] = [
    ...first,
    {
      role: 'assistant',
      content: null,
      tool_calls: forks.calls.map(({ id, name, arguments: input }) => ({
        id,
        type: 'function',
        function: { name, arguments: input },
      })),
    },
    ...forks.calls.map(({ id }) => ({
      role: 'tool',
      tool_call_id: id,
      content: 'You are a fork of the agent that made this call. Its result goes to that agent, not to you.',
    })),
  ];
  const one = async (index: number): Promise<void> => {
    const messages: Message[] = [
      ...shared,
      { role: 'user', content: `You are now "c${index}". Your task: count` },
    ];
    for (;;) {
      const { text, calls } = await ask(url, messages);
      if (calls.length === 0) return;
      messages.push({
        role: 'assistant',
        content: text,
        tool_calls: calls.map(({ id, name, arguments: input }) => ({
          id,
          type: 'function',
          function: { name, arguments: input },
        })),
      });
      for (const { id } of calls) messages.push({ role: 'tool', tool_call_id: id, content: 'ok' });
    }
  };
  // Eight at once, as many as Coppice's gate lets through.
  const queue = Array.from({ length: count }, (_, index) => index);
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let index = queue.shift(); index !== undefined; index = queue.shift()) await one(index);
    }),
  );
}

async function inProcess(kind: string, url: string, count: number): Promise<Measurement> {
  const child = spawn(process.execPath, [import.meta.filename, kind, url, String(count)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  await once(child, 'close');
  return JSON.parse(out) as Measurement;
}

async function server(): Promise<{ url: string; process: ChildProcess }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'fanout-server.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [port] = (await once(child.stdout, 'data')) as [Buffer];
  return { url: `http://127.0.0.1:${Number(port.toString())}`, process: child };
}

const [kind, url, count] = process.argv.slice(2);
if (kind !== undefined && url !== undefined) {
  const work = kind === 'bare' ? bare : coppice;
  console.log(JSON.stringify(await measured(() => work(url, Number(count)))));
} else {
  console.log(
    `fan-out: N children × 3 no-op calls, streaming, local server; ${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}`,
  );
  console.log(
    'Coppice (library, SQLite on disk, durable) beside a bare fetch loop (nothing kept), the same conversations, eight requests at once\n',
  );
  console.log('    N    Coppice wall     CPU    peak    bare wall     CPU    peak    CPU ratio');
  for (const size of SIZES) {
    const at = await server();
    const loop = await inProcess('bare', at.url, size);
    const ours = await inProcess('coppice', at.url, size);
    at.process.kill();
    const cell = (value: number, unit: string, width: number) =>
      `${value.toFixed(0)} ${unit}`.padStart(width);
    console.log(
      `${String(size).padStart(5)} ${cell(ours.wall_ms, 'ms', 15)} ${cell(ours.cpu_ms, 'ms', 7)} ${cell(ours.peak_mb, 'MB', 7)} ${cell(loop.wall_ms, 'ms', 12)} ${cell(loop.cpu_ms, 'ms', 7)} ${cell(loop.peak_mb, 'MB', 7)} ${(ours.cpu_ms / loop.cpu_ms).toFixed(2).padStart(12)}`,
    );
  }
}
