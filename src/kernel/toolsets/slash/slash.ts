import * as z from 'zod';
import { type Agent, isSubAgent } from '../../../records/agent/agent.ts';
import { framedName, nameOfTask } from '../../../records/agent/agent-name.ts';
import { completionFrom } from '../../../records/conversation/facts/completion.ts';
import type { Mail } from '../../../records/conversation/mail.ts';
import { keptIn } from '../../../records/kept-in.ts';
import { fieldsOf, wordOf } from '../../../records/text/json-fields.ts';
import type { JsonObject } from '../../../records/text/json-text.ts';
import { storable } from '../../../records/text/text.ts';
import { propertiesOf } from '../../reading/read-arguments.ts';
import { refuse, settle } from '../acts/agent-reference.ts';
import { noNesting } from '../acts/creation-limits.ts';
import { forkAgent, forkNeeds } from '../acts/fork-agent.ts';
import { killAgents } from '../acts/kill-agent.ts';
import { sendLetter } from '../acts/send-letter.ts';
import { checkedTool } from '../arguments.ts';
import { fork } from '../process.ts';
import type { Decision, Toolset, ToolsetView } from '../toolset.ts';
import { enclosed, readSlash, type SlashCommand, type SlashReading } from './slash-command.ts';

/**
 * The toolset `slash`: besides `bash` the model sees one tool whose commands fork, send, read and kill. A child rests when its work is
 * done and reports in one structured message; mail is announced by a notice and read with `check-mail`, by itself at the beginning of a turn (`answerAtHand`).
 */

/** Cache by arguments object, so that the arguments of a call are parsed once. */
const read = new WeakMap<object, SlashReading>();

/** The command of a call; undefined if there is none. */
function commandOf(input: unknown): SlashCommand | undefined {
  const reading = keptIn(read, fieldsOf(input), ({ command }: JsonObject) =>
    readSlash(wordOf(command) ?? ''),
  );
  return reading.ok ? reading.command : undefined;
}

const slash = checkedTool({
  name: 'slash',
  description:
    'Fork, message and end agents. One command per call, no shell: MESSAGE and PROMPT go to the end of the call, exactly as written.',
  schema: z.strictObject({ command: z.string().describe('One command.') }),
  audience: (config) => !isSubAgent(config),
  creates: (input) => commandOf(input)?.name === 'fork',
  surveys: true,
  mentions(input) {
    const command = commandOf(input);
    return command?.name === 'send' ? [command.to] : command?.name === 'kill' ? command.targets : [];
  },
  needs(input, call, self, terms) {
    const command = commandOf(input);
    return command?.name === 'fork' ? forkNeeds(command, call.id, self, terms) : [];
  },
  decode(input, call, view) {
    const reading = readSlash(input.command, propertiesOf(view.sent(fork.spec).input));
    if (!reading.ok) return refuse(reading.code, reading.error);
    const nested = noNesting(view);
    if (nested !== null) return nested;
    const { command } = reading;
    switch (command.name) {
      case 'fork':
        return forkCommand(command, call.id, view);
      case 'send':
        return sendCommand(command, view);
      case 'check-mail':
        return checkMail(view);
      case 'kill':
        return killAgents(view, command.targets, 'UUID', (killed) => `killed ${killed.join(' ')}`);
    }
  },
});

function forkCommand(
  { name: _, prompt, ...terms }: Extract<SlashCommand, { name: 'fork' }>,
  key: string,
  view: ToolsetView,
): Decision {
  const id = view.newId('agent');
  const name = prompt === null ? `fork-${id.slice(0, 8)}` : nameOfTask(prompt, null);
  return forkAgent(view, {
    id,
    name,
    terms,
    key,
    inherits: prompt === null,
    prompt,
    text: (task) => identity(id, name, view.self, task, prompt === null),
    output: (worktree) =>
      worktree === null ? id : `${id}\nIts git worktree: branch ${worktree.branch}, ${worktree.path}`,
  });
}

/** The first message of a child: its parent's UUID and how to report; `task` also holds what its terms add, with or without a prompt. */
function identity(id: string, name: string, parent: Agent, task: string | null, inherits: boolean): string {
  const who = inherits
    ? `You are now the child agent "${name}" (UUID ${id}), forked from your parent (UUID ${parent.id}), which goes on without you. The conversation above is your memory; do your part of the work now.`
    : `You are the child agent "${name}" (UUID ${id}). Your parent has the UUID ${parent.id}.`;
  const report =
    'When your work is done, end your turn: your last words are your report to your parent. If it cannot be done, send this and stop: ' +
    `slash ${JSON.stringify({ command: `send ${parent.id} {"status": "idle", "success": false, "error": "…", "partial": "…"}` })}. send is also for questions.`;
  const head = `${who}\n\n${report}`;
  if (task === null) return head;
  return `${head}\n\n${inherits ? '' : 'Your task:\n'}${storable(task)}`;
}

function sendCommand({ to, message }: Extract<SlashCommand, { name: 'send' }>, view: ToolsetView): Decision {
  const target = view.resolve(to);
  const reports = target.found === 'one' && target.agent.id === view.self.parent_id;
  const completion = reports ? completionIn(message) : null;
  const then = completion === null ? '' : ': this was your report, end your turn';
  return sendLetter(view, to, 'UUID', completion ?? message, ({ id }) => `sent to ${id}${then}`);
}

/** The text of a completion, which may be quoted as in a shell; null for any other message. */
function completionIn(message: string): string | null {
  const whole = message.trim();
  const texts = [message, enclosed(whole) ?? '', whole.slice(1, -1)];
  return texts.find((text) => completionFrom(text) !== null) ?? null;
}

/** All unread mail from agents, oldest first, with completions formatted. Mail from people joins the conversation without `check-mail`. */
function checkMail(view: ToolsetView): Decision {
  const letters = view.letters.filter((letter) => letter.from_id !== null);
  if (letters.length === 0)
    return settle('no mail: if you have nothing else to do, end your turn; mail wakes you');
  return settle(`[${letters.map((letter) => letterJson(letter, view)).join(',')}]`, {
    type: 'consume-mail',
    mail_ids: letters.map((letter) => letter.id),
  });
}

/** One letter as JSON. The completion of an own child stands in it as it was written, so that nothing is dropped from it. */
function letterJson(
  { kind, from_id, from_name, body, sent_at, did, completion }: Mail,
  view: ToolsetView,
): string {
  const sender = view.resolve(from_id ?? '');
  const is_child = sender.found === 'one' && sender.agent.parent_id === view.self.id;
  const head = { from: from_id, name: framedName(from_name), sent_at: new Date(sent_at).toISOString() };
  if (!(kind === 'report' || is_child) || completion === undefined)
    return JSON.stringify({ ...head, message: body, did });
  const tail = did === undefined ? '' : `,"did":${JSON.stringify(did)}`;
  return `${JSON.stringify(head).slice(0, -1)},"completion":${body.trim()}${tail}}`;
}

const GUIDANCE = `### Sub-Agents

You can fork child agents to work in parallel, with calls of slash:

\`\`\`
slash {"command": "fork PROMPT"}   a child that knows only PROMPT; returns its UUID
slash {"command": "fork"}          a child that knows this whole conversation
slash {"command": "send UUID MESSAGE"}
slash {"command": "check-mail"}    read what came while you work
slash {"command": "kill UUID"}
\`\`\`

**When to fork:**
- Task is self-contained, doesn't need ongoing collaboration
- You want parallel exploration of multiple approaches
- Work benefits from isolated context

**When NOT to fork:**
- Task requires back-and-forth with you
- Task is simple enough to do yourself

**Child lifecycle:**
1. Fork creates child, returns UUID
2. Child works; its last words come to you as mail
3. Child idles until you kill it or send more work

**Coordinating children:**
- When you have nothing else to do, end your turn: mail wakes you
- Share sibling UUIDs in prompts if children need to coordinate`;

export const slashToolset: Toolset = {
  name: 'slash',
  tools: [slash],
  guidance: GUIDANCE,
  letters: 'notice',
};
