import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * A model server, by default without latency, for the fan-out benchmark, in its own process so that its CPU is not counted: Chat Completions, streaming, decided by
 * counting in the raw text instead of parsing it. A child calls `noop` three times (or the tool and the number of calls given as arguments) and ends; the
 * root forks n and waits (`FORK n`), or spawns n (`SPAWN n`). `/CHUNKS/v1/…` sets the number of pieces of a text. `/seen` returns what was requested since
 * the last time: the number of bytes, and the first body of a root and of a child.
 * The last two arguments are the time to the first token and between the pieces of a text.
 */
const chunk = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const END = `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } })}\n\ndata: [DONE]\n\n`;
const [TOOL = 'noop', CALLS = '3', FIRST_TOKEN_MS = '0', TOKEN_MS = '0'] = process.argv.slice(2);
let serial = 0;
let seen: { bytes: number; root?: string; child?: string } = { bytes: 0 };

function call(name: string, input: object, index = 0): string {
  serial += 1;
  return chunk({
    tool_calls: [
      { index, id: `call_${serial}`, type: 'function', function: { name, arguments: JSON.stringify(input) } },
    ],
  });
}

/** Text of sixty characters in this many deltas. */
function text(pieces: number): string {
  return Array.from({ length: pieces }, () => chunk({ content: 'w'.padEnd(60 / pieces, 'o') })).join('');
}

function answer(raw: string, pieces: number): string {
  const head = chunk({ role: 'assistant', content: '' });
  const done = (events: string, finish: string) => head + events + chunk({}, finish) + END;
  const [, word, number] = /(SPAWN|FORK) (\d+)/.exec(raw) ?? [];
  const each = (input: (index: number) => object, name: string) =>
    done(
      Array.from({ length: Number(number) }, (_, index) => call(name, input(index), index)).join(''),
      'tool_calls',
    );
  const identity = raw.lastIndexOf('You are now');
  if (word === undefined && identity < 0) return done(chunk({ content: 'ready' }), 'stop');
  if (word === 'SPAWN' || identity < 0) seen.root ??= raw;
  if (word === 'SPAWN') {
    if (raw.includes('"role":"tool"')) return done(chunk({ content: 'all done' }), 'stop');
    return each((n) => ({ task: `You are now c${n}: count`, description: `c${n}` }), 'subagent_spawn');
  }
  if (identity < 0) {
    const ids = [...raw.matchAll(/\{\\"agent_id\\":\\"([0-9a-f-]{36})\\",\\"name\\"/g)].map(
      (match) => match[1],
    );
    if (ids.length === 0) return each((n) => ({ name: `c${n}`, prompt: 'count' }), 'fork');
    if (!raw.includes('\\"results\\"'))
      return done(call('wait', { timeout: 600, from_agents: ids }), 'tool_calls');
    return done(chunk({ content: 'all done' }), 'stop');
  }
  seen.child ??= raw;
  const results = raw.slice(identity).split('"role":"tool"').length - 1;
  const input = TOOL === 'noop' ? { n: results } : { path: 'notes.md', offset: results + 1 };
  return results < Number(CALLS)
    ? done(text(pieces) + call(TOOL, input), 'tool_calls')
    : done(text(pieces), 'stop');
}

const server = createServer(async (request, response) => {
  if (request.url === '/seen') {
    response.end(JSON.stringify(seen));
    seen = { bytes: 0 };
    return;
  }
  const chunks: Buffer[] = [];
  for await (const part of request) chunks.push(part as Buffer);
  const raw = Buffer.concat(chunks);
  seen.bytes += raw.length;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const pieces = Number(request.url?.split('/')[1]);
  const whole = answer(raw.toString('utf8'), pieces);
  if (FIRST_TOKEN_MS === '0') return response.end(whole);
  await sleep(Number(FIRST_TOKEN_MS));
  const events = whole.split(/(?<=\n\n)/);
  const texts = events.filter((event) => event.includes('"content":"w')).length;
  const began_at = performance.now();
  for (let index = 0; index < texts; index += 1) {
    response.write(events[index + 1] ?? '');
    await sleep(Math.max(1, began_at + (index + 1) * Number(TOKEN_MS) - performance.now()));
  }
  response.end(events.slice(texts + 1).join(''));
});
// A client under load may use a kept connection just when it is being closed, which `fetch` reports as an error.
server.keepAliveTimeout = 600_000;
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
