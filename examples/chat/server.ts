// A chat in the browser whose answers come from a tree of agents: `useChat` of the AI SDK on the page (page.jsx), four routes here. Its model is scripted.
import { join } from 'node:path';
import { serve } from '@hono/node-server';
import { CoppiceError, createScriptedModel, openCoppice } from 'coppice';
import { build } from 'esbuild';
import { Hono } from 'hono';

const scripted = createScriptedModel(
  {
    rules: [
      { when: { agent: 'botanist' }, delay_ms: 1_500, say: 'Oaks have lobed leaves, and acorns.' },
      {
        when: { root: true, step: 0, user: 'oak' },
        say: 'I ask a botanist. ',
        calls: [{ name: 'fork', input: { name: 'botanist', prompt: 'What marks an oak?' } }],
      },
      { when: { root: true, user: 'lobed' }, say: 'An oak has lobed leaves, and acorns.' },
      { when: { root: true, user: 'oak' }, say: 'The botanist looks it up.' },
      { say: 'Ask me about oaks.' },
    ],
  },
  'botany',
);
const coppice = await openCoppice({
  ...{ database: 'sqlite:chats.db', model: 'scripted', models: { scripted } }, // Or model: 'anthropic/claude-sonnet-4-5'.
  builtInTools: [],
});
await coppice.resume(); // What was under way when the last process ended.

// A real service puts the user in front of the id, `chat({ ...request, id: `${user}/${request.id}` })`, so that nobody reads the chats of others.
const app = new Hono();
app.post('/api/chat', async (c) => (await coppice.chat(await c.req.json())).toUIMessageStreamResponse());
app.get('/api/chat/:id/stream', async (c) =>
  (await coppice.chat({ id: c.req.param('id') })).toUIMessageStreamResponse(),
);
app.get('/api/chat/:id/messages', async (c) =>
  c.json(await (await coppice.chat({ id: c.req.param('id') })).messages()),
);
app.post('/api/chat/:id/stop', async (c) => {
  await (await coppice.chat({ id: c.req.param('id') })).interrupt();
  return c.body(null, 204);
});
app.onError((error, c) =>
  error instanceof CoppiceError ? c.text(error.message, 400) : c.text('the server failed', 500),
);

const { outputFiles } = await build({
  ...{ entryPoints: [join(import.meta.dirname, 'page.jsx')], bundle: true, write: false, format: 'esm' },
  ...{ jsx: 'automatic', define: { 'process.env.NODE_ENV': '"production"' } },
});
app.get('/page.js', (c) => c.body(outputFiles[0]?.text ?? '', 200, { 'content-type': 'text/javascript' }));
app.get('/', (c) =>
  c.html(
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>Oaks</title><link rel="icon" href="data:,"><main></main><script type="module" src="/page.js"></script>',
  ),
);

serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000), hostname: '127.0.0.1' }, ({ port }) =>
  console.log(`http://127.0.0.1:${port}/?chat=first`),
);
