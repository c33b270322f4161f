/**
 * A toolset of your own: how agents work with other agents. `ask` creates an agent that answers a question; its answer
 * arrives as mail and wakes who asked. `tell` writes to another agent. Both take effect in the transaction that settles the call.
 */
import {
  defineToolsetTool,
  forkAgent,
  openCore,
  openSqlite,
  refuse,
  sendLetter,
  type Toolset,
} from 'coppice/core';
import * as z from 'zod';
import { newest, ownModel } from './model.ts';

const ask = defineToolsetTool({
  name: 'ask',
  description: 'Ask an expert, who knows only the question.',
  schema: z.strictObject({ expert: z.string().min(1), question: z.string().min(1) }),
  // Several such calls of one message are decided together.
  creates: true,
  decode({ expert, question }, call, view) {
    if (view.self.depth > 0) return refuse('NESTING_FORBIDDEN', 'experts ask nobody: answer yourself.');
    const plan = { id: view.newId(), name: expert, key: call.id, terms: {}, inherits: false };
    return forkAgent(view, {
      ...plan,
      prompt: question,
      text: (task) => `You are ${expert}. ${task}`,
      output: () => `${expert} was asked`,
    });
  },
});

const tell = defineToolsetTool({
  name: 'tell',
  description: 'Write to another agent of this tree, or to "parent".',
  schema: z.strictObject({ to: z.string().min(1), message: z.string().min(1) }),
  // The agents that arguments name are looked up first.
  mentions: (input) => [String((input as { to?: unknown }).to)],
  decode: ({ to, message }, _call, view) => sendLetter(view, to, 'to', message, () => `told ${to}`),
});

const panel: Toolset = {
  name: 'panel',
  tools: [ask, tell],
  guidance: 'Ask experts; their answers reach you as mail.',
};

const host = ownModel('host', (request) => {
  const { messages, agent } = request;
  if (agent.parent_id !== null)
    return messages.length === 1
      ? [{ name: 'tell', input: { to: 'parent', message: `yes, says the ${agent.name}` } }]
      : 'Told.';
  if (messages.length > 1) return newest(request);
  const experts = ['botanist', 'carpenter'];
  return experts.map((expert) => ({ name: 'ask', input: { expert, question: 'Is oak hard?' } }));
});

const store = await openSqlite('toolset.db');
const core = await openCore({ store, models: { host }, toolsets: [panel] });
core.subscribe((event) => {
  if (event.type === 'agent' && event.created) console.log(`+ ${event.agent.name}`);
  if (event.type === 'mail') console.log(`✉ ${event.mail.from_name}: ${event.mail.body}`);
});
const agent = await core.start({ prompt: 'Is oak hard?', model: 'host', toolsets: ['panel'] });
console.log((await agent.result()).outcome_text);
await core.close();
await store.close();
