import { z } from 'zod';
import type { Agent } from '../core/agent.ts';
import { isTerminal, newTurn } from '../core/state.ts';
import { storable } from '../core/text.ts';
import { describe, find, refuse, strings, text } from './agent-reference.ts';
import { inputSchema, parseArguments } from './arguments.ts';
import type { Toolset, ToolsetTool, ToolsetView } from './toolset.ts';

/**
 * Seed 1: `fork`, `kill`, `send`, `wait`. A child inherits its parent's whole context, works beside it, writes to it by
 * mail, and idles when its turn ends, so that it can be sent more work.
 */

/** Longest `wait` in seconds: a day. */
const MAX_WAIT_SECONDS = 86_400;
const MAX_NAME = 100;

const forkInput = z.strictObject({
  name: text('the name').max(MAX_NAME).describe('Short human-readable label for the child.'),
  prompt: text('the prompt').describe(
    'What the child is to do. It knows everything you know up to this point.',
  ),
});

const fork: ToolsetTool = {
  spec: {
    name: 'fork',
    description:
      'Create a child agent that inherits this whole conversation and works on its prompt beside you. Returns at once with its agent_id. Collect its report with wait.',
    input: inputSchema(forkInput),
  },
  creates: true,
  surveys: false,
  mentions: () => [],
  decode(input, _call, view) {
    const parsed = parseArguments(forkInput, input);
    if (!parsed.ok) return refuse('INVALID_ARG', parsed.message);
    const reached = budget(view);
    if (reached !== null) return refuse('LIMIT_REACHED', reached);
    const name = storable(parsed.value.name.trim());
    const id = view.newId();
    const { self } = view;
    return {
      type: 'settle',
      output: JSON.stringify({ agent_id: id, name }),
      consequences: [
        {
          type: 'create-agents',
          agents: [
            {
              agent: {
                id,
                root_id: self.root_id,
                parent_id: self.id,
                name,
                session_key: `agent:main:fork:${id}`,
                origin: 'fork',
                depth: self.depth + 1,
                config: self.config,
                state: { type: 'requesting', attempt: 1, turn: newTurn(view.now) },
                forked_from: { agent_id: self.id, seq: view.message_seq },
                worker: view.worker,
                created_at: view.now,
              },
              messages: [
                {
                  kind: 'user',
                  content: {
                    origin: 'identity',
                    text: identity(id, name, self, storable(parsed.value.prompt)),
                  },
                },
              ],
            },
          ],
        },
      ],
    };
  },
};

/** Which limit a further child would break, as a sentence that no retry gets around; null when there is room. */
function budget(view: ToolsetView): string | null {
  const { limits, live, total } = view.tree;
  const over = (limit: string, allowed: number, present: number, more: string): string =>
    `limit "${limit}" reached: ${present} of ${allowed}. ${more} A person can raise it with --limit ${limit}=N.`;
  if (view.self.depth + 1 > limits.depth) {
    return over(
      'depth',
      limits.depth,
      view.self.depth,
      'Agents at this depth cannot fork: do the work yourself.',
    );
  }
  if (view.living_children + 1 > limits.children) {
    return over(
      'children',
      limits.children,
      view.living_children,
      'Kill children that you no longer need, or send them more work.',
    );
  }
  if (live + 1 > limits.live)
    return over('live', limits.live, live, 'Kill agents that are no longer needed.');
  if (total + 1 > limits.total)
    return over(
      'total',
      limits.total,
      total,
      'No more agents can be created in this tree: reuse idle ones with send.',
    );
  return null;
}

function identity(id: string, name: string, parent: Agent, prompt: string): string {
  return [
    `You are now "${name}" (agent ${id}), a fork of "${parent.name}" (agent ${parent.id}), which goes on without you.`,
    'The conversation above is your memory of it; what it does from here on you do not see.',
    `When your task is done, report to it: send(to: "${parent.id}", message: …). Then stop; it may send you more work.`,
    '',
    'Your task:',
    prompt,
  ].join('\n');
}

const killInput = z.strictObject({
  agent_id: text('the agent_id').describe('The agent to end, with all its descendants.'),
});

const kill: ToolsetTool = {
  spec: {
    name: 'kill',
    description:
      'End one of your descendants and all agents below it, for good. Returns the ids of all that were ended.',
    input: inputSchema(killInput),
  },
  creates: false,
  surveys: true,
  mentions: (input) => strings(input, 'agent_id'),
  decode(input, _call, view) {
    const parsed = parseArguments(killInput, input);
    if (!parsed.ok) return refuse('INVALID_ARG', parsed.message);
    const found = find(parsed.value.agent_id, 'agent_id', view);
    if (!found.ok) return found.refused;
    const target = found.agent;
    if (target.id === view.self.id)
      return refuse('CANNOT_KILL_SELF', 'an agent cannot kill itself: end your turn instead.');
    if (target.parent_id === null)
      return refuse('CANNOT_KILL_ROOT', `${describe(target)} is the root of the tree.`);
    if (view.lineage(view.self).some((ancestor) => ancestor.id === target.id)) {
      return refuse('CANNOT_KILL_PARENT', `${describe(target)} is above you in the tree.`);
    }
    if (!view.lineage(target).some((ancestor) => ancestor.id === view.self.id)) {
      return refuse('NOT_A_DESCENDANT', `${describe(target)} is not below you in the tree.`);
    }
    if (isTerminal(target.state.type))
      return refuse('ALREADY_DEAD', `${describe(target)} has ended already.`);
    const killed = view.subtree(target).map((agent) => agent.id);
    return {
      type: 'settle',
      output: JSON.stringify({ killed }),
      consequences: [{ type: 'kill-agents', agent_ids: [target.id] }],
    };
  },
};

const sendInput = z.strictObject({
  to: text('the recipient').describe('agent_id of the recipient.'),
  message: text('the message').describe('The text it receives.'),
});

const send: ToolsetTool = {
  spec: {
    name: 'send',
    description:
      'Send a message to another agent of this tree: your parent, a child, a sibling. An idle agent wakes up and works on it. Does not wait for an answer.',
    input: inputSchema(sendInput),
  },
  creates: false,
  surveys: false,
  mentions: (input) => strings(input, 'to'),
  decode(input, _call, view) {
    const parsed = parseArguments(sendInput, input);
    if (!parsed.ok) return refuse('INVALID_ARG', parsed.message);
    const found = find(parsed.value.to, 'to', view);
    if (!found.ok) return found.refused;
    const target = found.agent;
    if (target.id === view.self.id) return refuse('CANNOT_SEND_TO_SELF', 'you cannot send mail to yourself.');
    if (isTerminal(target.state.type))
      return refuse('ALREADY_DEAD', `${describe(target)} has ended and reads no mail.`);
    return {
      type: 'settle',
      output: JSON.stringify({ sent_to: target.id, name: target.name }),
      consequences: [
        {
          type: 'deliver-mail',
          mail: {
            id: view.newId(),
            root_id: view.self.root_id,
            to_id: target.id,
            from_id: view.self.id,
            from_name: view.self.name,
            kind: 'letter',
            body: storable(parsed.value.message),
            sent_at: view.now,
          },
        },
      ],
    };
  },
};

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

const wait: ToolsetTool = {
  spec: {
    name: 'wait',
    description:
      'Wait for messages. With from_agents: until every listed agent has sent a message, idles or is dead; returns one result per agent with status received, running, idle or dead. Without: the next message from anyone. A message is returned once.',
    input: inputSchema(waitInput),
  },
  creates: false,
  surveys: false,
  mentions: (input) => strings(input, 'from_agents'),
  decode(input, _call, view) {
    const parsed = parseArguments(waitInput, input);
    if (!parsed.ok) return refuse('INVALID_ARG', parsed.message);
    const deadline = view.now + Math.round(parsed.value.timeout * 1000);
    const listed = parsed.value.from_agents ?? null;
    if (listed === null) return { type: 'park', wait: { from: null, deadline } };
    const from: string[] = [];
    for (const one of listed) {
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
};

export const processToolset: Toolset = {
  name: 'process',
  tools: [fork, kill, send, wait],
  guidance: '',
};
