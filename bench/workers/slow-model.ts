import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A model server that waits before each answer, in a process of its own: Chat Completions, streaming. Each conversation makes CALLS calls
 * of `bash`, one after another, and ends. `slow-model.ts ANSWER_MS CALLS CALL_SECONDS`; prints its port.
 */
const [answer_ms, calls, call_seconds] = process.argv.slice(2).map(Number) as [number, number, number];

const chunk = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const END = `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } })}\n\ndata: [DONE]\n\n`;

function answer(raw: string): string {
  const results = raw.split('"role":"tool"').length - 1;
  const head = chunk({ role: 'assistant', content: '' });
  if (results >= calls) return head + chunk({ content: 'done' }) + chunk({}, 'stop') + END;
  const call = { name: 'bash', arguments: JSON.stringify({ command: `sleep ${call_seconds}` }) };
  return (
    head +
    chunk({ tool_calls: [{ index: 0, id: `call_${results}`, type: 'function', function: call }] }) +
    chunk({}, 'tool_calls') +
    END
  );
}

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const part of request) chunks.push(part as Buffer);
  setTimeout(() => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(answer(Buffer.concat(chunks).toString('utf8')));
  }, answer_ms);
});
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
