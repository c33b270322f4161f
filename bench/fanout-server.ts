import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A zero-latency model server for the fan-out benchmark, a process of its own so that its CPU is not counted: Chat Completions, streaming, decided by
 * counting in the raw text instead of parsing it. A child calls `noop` three times and ends; the root (`FORK n`) forks n and waits.
 */
const chunk = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const END = `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } })}\n\ndata: [DONE]\n\n`;
let serial = 0;

function call(name: string, input: object, index = 0): string {
  serial += 1;
  return chunk({
    tool_calls: [
      { index, id: `call_${serial}`, type: 'function', function: { name, arguments: JSON.stringify(input) } },
    ],
  });
}

function answer(raw: string): string {
  const head = chunk({ role: 'assistant', content: '' });
  const done = (events: string, finish: string) => head + events + chunk({}, finish) + END;
  const identity = raw.lastIndexOf('You are now');
  if (identity < 0) {
    const count = Number(/FORK (\d+)/.exec(raw.slice(0, 4000))?.[1]);
    const ids = [...raw.matchAll(/\{\\"agent_id\\":\\"([0-9a-f-]{36})\\",\\"name\\"/g)].map(
      (match) => match[1],
    );
    if (ids.length === 0)
      return done(
        Array.from({ length: count }, (_, index) =>
          call('fork', { name: `c${index}`, prompt: 'count' }, index),
        ).join(''),
        'tool_calls',
      );
    if (!raw.includes('\\"results\\"'))
      return done(call('wait', { timeout: 600, from_agents: ids }), 'tool_calls');
    return done(chunk({ content: 'all done' }), 'stop');
  }
  const results = raw.slice(identity).split('"role":"tool"').length - 1;
  if (results < 3)
    return done(
      chunk({ content: 'working ' }) + chunk({ content: 'on it' }) + call('noop', { n: results }),
      'tool_calls',
    );
  return done(chunk({ content: 'counted ' }) + chunk({ content: 'to three' }), 'stop');
}

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const part of request) chunks.push(part as Buffer);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(answer(Buffer.concat(chunks).toString('utf8')));
});
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
