import * as z from 'zod';
import { isSubAgent } from '../../records/agent/agent.ts';
import { forkMessage } from '../../records/conversation/fork-message.ts';
import { find, name, refuse, strings, text } from './acts/agent-reference.ts';
import { budgetOption } from './acts/child-budget.ts';
import { noNesting } from './acts/creation-limits.ts';
import { createdJson, forkAgent, forkNeeds } from './acts/fork-agent.ts';
import { killAgents } from './acts/kill-agent.ts';
import { sendLetter } from './acts/send-letter.ts';
import { readFirst } from './acts/task-options.ts';
import { checkedTool } from './arguments.ts';
import type { Toolset, ToolsetTool } from './toolset.ts';

/**
 * The toolset `process`: `fork`, `kill`, `send`, `wait`. A child inherits its parent's whole context, works in parallel, reports by
 * mail, and idles when its turn ends, so that it can be given more work.
 */

/** Maximum `wait` in seconds: a day. */
const MAX_WAIT_SECONDS = 86_400;

export const forkInput = z.strictObject({
  name: name('required').describe('Short human-readable label for the child.'),
  prompt: text('the prompt').describe(
    'What the child is to do. It knows everything you know up to this point.',
  ),
  profile: z.string().min(1).nullish().describe('Named profile that the child works by.'),
  model: z.string().min(1).nullish().describe('Another model for it, as provider/model.'),
  read_first: readFirst,
  worktree: z.boolean().nullish().describe('Work in a git worktree of its own, on a branch to be merged.'),
  budget: budgetOption,
});

/** Conversations of people and their forks, not sub-agents with a single task. */
const audience: ToolsetTool['audience'] = (config) => !isSubAgent(config);

const fork = checkedTool({
  name: 'fork',
  description:
    'Create a child agent that inherits this whole conversation and works on its prompt in parallel with you. Returns at once with its agent_id. Collect its report with wait, or end your turn: the end of its turn wakes you.',
  schema: forkInput,
  audience,
  creates: true,
  needs: (options, call, self, terms) => forkNeeds(options, call.id, self, terms),
  decode({ name: called, prompt, ...terms }, call, view) {
    const nested = noNesting(view);
    if (nested !== null) return nested;
    const id = view.newId();
    return forkAgent(view, {
      id,
      name: called,
      terms,
      key: call.id,
      inherits: true,
      prompt,
      text: (task) => forkMessage(id, called, view.self, task),
      output: (worktree) => JSON.stringify(createdJson(id, called, worktree)),
    });
  },
});

const killInput = z
  .strictObject({
    agent_id: text('the agent_id').nullish().describe('The agent to end, with all its descendants.'),
    agent_ids: z.array(text('the agent_id')).nullish().describe('Several agents to end at once.'),
  })
  .refine(({ agent_id, agent_ids }) => agent_id != null || (agent_ids ?? []).length > 0, {
    path: ['agent_id'],
    message: 'give agent_id, or agent_ids for several',
  });

export const kill = checkedTool({
  name: 'kill',
  description:
    'End one of your descendants, or several, and all agents below them, for good. Returns the ids of all that were ended.',
  schema: killInput,
  surveys: true,
  mentions: (input) => [...strings(input, 'agent_id'), ...strings(input, 'agent_ids')],
  audience,
  decode({ agent_id, agent_ids }, _call, view) {
    const texts = [...(agent_id == null ? [] : [agent_id]), ...(agent_ids ?? [])];
    const field = agent_ids == null ? 'agent_id' : 'agent_ids';
    return killAgents(view, texts, field, (killed) => JSON.stringify({ killed }));
  },
});

const sendInput = z.strictObject({
  to: text('the recipient').describe('agent_id of the recipient.'),
  message: text('the message').describe('The text it receives.'),
});

export const send = checkedTool({
  name: 'send',
  description:
    'Send a message to another agent of this tree: your parent, a child, a sibling. An idle agent wakes up and works on it. Does not wait for an answer.',
  schema: sendInput,
  mentions: (input) => strings(input, 'to'),
  audience,
  decode({ to, message }, _call, view) {
    return sendLetter(view, to, 'to', message, ({ id, name }) => JSON.stringify({ sent_to: id, name }));
  },
});

const waitInput = z.strictObject({
  timeout: z
    .number()
    .min(0, 'must not be negative')
    .max(MAX_WAIT_SECONDS, `must be at most ${MAX_WAIT_SECONDS} (a day)`)
    .describe('Seconds to wait at most; 0 looks and returns at once.'),
  from_agents: z
    .array(z.string())
    .nullish()
    .describe('agent_ids to wait for, all of them. Without it: the next message from anyone.'),
});

export const wait = checkedTool({
  name: 'wait',
  description:
    'Wait for messages. With from_agents: until every listed agent has sent a message, idles or is dead; returns one result per agent with status received, running, idle or dead. Without: the next message from anyone. A message is returned once.',
  schema: waitInput,
  comes_last: true,
  mentions: (input) => strings(input, 'from_agents'),
  audience,
  decode({ timeout, from_agents }, _call, view) {
    const deadline = view.now + Math.round(timeout * 1000);
    if (from_agents == null) return { type: 'park', wait: { from: null, deadline } };
    const from: string[] = [];
    for (const one of from_agents) {
      const found = find(one, 'from_agents', view);
      if (!found.ok) return found.refused;
      if (found.agent.id === view.self.id) {
        return refuse(
          'WOULD_DEADLOCK',
          `you cannot wait for yourself: ${view.self.name} → ${view.self.name}.`,
        );
      }
      if (!from.includes(found.agent.id)) from.push(found.agent.id);
    }
    return { type: 'park', wait: { from, deadline } };
  },
});

export const processToolset: Toolset = {
  name: 'process',
  tools: [fork, kill, send, wait],
  guidance:
    'When parts of a task do not depend on each other, fork a child for each and collect their reports with wait; do small things yourself.',
};
