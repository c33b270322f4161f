/** A tool of your own: a JSON Schema (or a schema of zod) and a function. */
import { defineTool, openCore, openSqlite } from 'coppice/core';
import { newest, ownModel } from './model.ts';

const rings = defineTool<{ tree: string }>({
  name: 'rings',
  description: 'Count the rings of a felled tree.',
  input: { type: 'object', properties: { tree: { type: 'string' } }, required: ['tree'] },
  run: ({ tree }) => `${tree} has ${tree.length * 10} rings`,
});

const forester = ownModel('forester', (request) =>
  request.messages.length === 1 ? [{ name: 'rings', input: { tree: 'oak' } }] : newest(request),
);

const store = await openSqlite('tool.db');
const core = await openCore({ store, models: { forester }, tools: [rings] });
const agent = await core.start({ prompt: 'How old is the oak?', model: 'forester' });
console.log((await agent.result()).reply);
await core.close();
await store.close();
