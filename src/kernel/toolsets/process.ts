import * as z from 'zod';
import { type Agent, isSubAgent } from '../../records/agent/agent.ts';
import { forkMessage } from '../../records/conversation/fork-message.ts';
import { find, name, refuse, settle, strings, text } from './acts/agent-reference.ts';
import { budgetOption } from './acts/child-budget.ts';
import { noNesting } from './acts/creation-limits.ts';
import { createdJson, forkAgent, forkNeeds } from './acts/fork-agent.ts';
import { killAgents } from './acts/kill-agent.ts';
import { sendLetter } from './acts/send-letter.ts';
import { readFirst } from './acts/task-options.ts';
import { checkedTool } from './arguments.ts';
import type { Toolset, ToolsetTool, ToolsetView } from './toolset.ts';

/**
 * The toolset `process`: `fork`, `kill`, `send`, `wait`. A child inherits its parent's whole context, works in parallel, reports by
 * mail, and idles when its turn ends, so that it can be given more work.
 */

/** Maximum `wait` in seconds: a day. */
const MAX_WAIT_SECONDS = 86_400;

export const forkInput = z.strictObject({
  name: name('required').describe('Short label.'),
  prompt: text('the prompt').describe('What the child is to do.'),
  profile: z.string().min(1).nullish().describe('Kind of agent.'),
  model: z.string().min(1).nullish().describe('Another model, as provider/model.'),
  read_first: readFirst,
  worktree: z.boolean().nullish().describe('A git worktree of its own, on a branch to be merged.'),
  budget: budgetOption,
});

/** Conversations of people and their forks, not sub-agents with a single task. */
const audience: ToolsetTool['audience'] = (config) => !isSubAgent(config);

export const fork = checkedTool({
  name: 'fork',
  description:
    'Create a child agent that knows this whole conversation and works on its prompt in parallel with you. Returns its agent_id at once. Its last words are its report: collect them with wait, or end your turn and they wake you.',
  schema: forkInput,
  audience,
  creates: true,
  needs: (options, call, self, terms) => forkNeeds(options, call.id, self, terms),
  decode({ name: called, prompt, ...terms }, call, view) {
    const nested = noNesting(view);
    if (nested !== null) return nested;
    const id = view.newId('agent');
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

/** Maximum agents that one call writes to or ends. */
const SEVERAL_MAX = 100;

/** One id or, by those who know it, several: models are sent the former. */
function several(one: z.ZodString) {
  return z.union([one, z.array(one).min(1).max(SEVERAL_MAX)]);
}

const killInput = z.strictObject({ agent_id: text('the agent_id').describe('The agent.') });

export const kill = checkedTool({
  name: 'kill',
  description: 'End one of your descendants and all below it, for good. Returns the ids of all that ended.',
  sent: killInput,
  schema: killInput.extend({ agent_id: several(killInput.shape.agent_id) }),
  surveys: true,
  mentions: (input) => strings(input, 'agent_id'),
  audience,
  decode: (input, _call, view) =>
    killAgents(view, strings(input, 'agent_id'), 'agent_id', (killed) => JSON.stringify({ killed })),
});

const sendInput = z.strictObject({
  to: text('the recipient').describe('agent_id.'),
  message: text('the message'),
});

export const send = checkedTool({
  name: 'send',
  description: 'Send a message to another agent: your parent, a child, a sibling. It wakes if it is idle.',
  sent: sendInput,
  schema: sendInput.extend({ to: several(sendInput.shape.to) }),
  mentions: (input) => strings(input, 'to'),
  audience,
  decode({ to, message }, _call, view) {
    const output = ({ id, name }: Agent) => JSON.stringify({ sent_to: id, name });
    const all = strings({ to }, 'to');
    if (typeof to === 'string' && all.length < 2)
      return sendLetter(view, all[0] ?? to, 'to', message, output);
    const letters = [...new Set(all)].map((one) => sendLetter(view, one, 'to', message, output));
    const sent = letters.filter((one) => one.type === 'settle');
    // Nobody gets a letter if somebody cannot.
    return (
      letters.find((one) => one.type === 'refuse') ??
      settle(`[${sent.map((one) => one.output).join(',')}]`, ...sent.flatMap((one) => one.consequences))
    );
  },
});

const waitInput = z.strictObject({
  timeout: z
    .number()
    .min(0, 'must not be negative')
    .max(MAX_WAIT_SECONDS, `must be at most ${MAX_WAIT_SECONDS} (a day)`)
    .describe('Seconds at most; 0 returns at once.'),
  from_agents: z.array(z.string()).nullish().describe('agent_ids, to wait for all of them.'),
});

export const wait = checkedTool({
  name: 'wait',
  description:
    'Wait for messages. With from_agents: until each has sent one, is idle (its turn ended: last_reply is its report) or dead, or one needs you (waits_for_you: answer it, wait again); returns a row per agent, each message once. Without: for the next message from anyone; nobody_works: none will come.',
  schema: waitInput,
  comes_last: true,
  surveys: true,
  mentions: (input) => strings(input, 'from_agents'),
  audience,
  decode({ timeout, from_agents }, _call, view) {
    const times = { started_at: view.now, deadline: view.now + Math.round(timeout * 1000) };
    if (from_agents == null) return { type: 'park', wait: { from: null, ...times } };
    const from: string[] = [];
    for (const one of from_agents.flatMap((each) => childrenNamed(each, view))) {
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
    return { type: 'park', wait: { from, ...times } };
  },
});

/** The children that a word for all means, or a name that several of them have; otherwise the text itself. */
function childrenNamed(text: string, view: ToolsetView): readonly string[] {
  const resolved = view.resolve(text);
  const is_all = resolved.found === 'none' && /^(all|\*|children|all children)$/i.test(text.trim());
  const named = resolved.found === 'many' ? resolved.candidates : [];
  const meant = is_all ? view.subtree(view.self) : named;
  const ids = meant.filter((one) => one.parent_id === view.self.id).map(({ id }) => id);
  return ids.length > 0 && (is_all || ids.length === named.length) ? ids : [text];
}

export const processToolset: Toolset = {
  name: 'process',
  tools: [fork, kill, send, wait],
  guidance:
    'When parts of a task do not depend on each other, fork a child for each and collect their reports with wait; do small things yourself.',
};
