import * as z from 'zod';
import type { Agent } from '../../../records/agent/agent.ts';
import { isSubAgent } from '../../../records/agent/agent.ts';
import { framedName } from '../../../records/agent/agent-name.ts';
import {
  type CompletionReading,
  completionFrom,
  readCompletion,
} from '../../../records/conversation/completion.ts';
import type { Mail } from '../../../records/conversation/mail.ts';
import { keptIn } from '../../../records/kept-in.ts';
import { storable } from '../../../records/text/text.ts';
import { refuse } from '../acts/agent-reference.ts';
import { noNesting } from '../acts/creation-limits.ts';
import { forkAgent, forkNeeds } from '../acts/fork-agent.ts';
import { killAgents } from '../acts/kill-agent.ts';
import { nameOfTask } from '../acts/new-child.ts';
import { sendLetter } from '../acts/send-letter.ts';
import { parseArguments, specOf } from '../arguments.ts';
import type { Decision, Toolset, ToolsetTool, ToolsetView } from '../toolset.ts';
import { enclosed, readSlash, type SlashCommand } from './slash-command.ts';

/**
 * The toolset `slash`: besides `bash` the model sees one tool whose commands fork, send, read and kill. A child rests when its work is
 * done and reports in one structured message; mail is announced by a notice and read with `check-mail`.
 */

const slashInput = z.strictObject({
  command: z
    .string()
    .describe('One command: fork [PROMPT], send UUID MESSAGE, check-mail, or kill UUID… Nothing is escaped.'),
});

type Parsed =
  | { readonly ok: true; readonly command: SlashCommand }
  | { readonly ok: false; readonly refused: Extract<Decision, { type: 'refuse' }> };

/** Cache by arguments object, so that the arguments of a call are parsed once. */
const read = new WeakMap<object, Parsed>();

function parse(input: unknown): Parsed {
  if (typeof input !== 'object' || input === null) return parsed(input);
  return keptIn(read, input, parsed);
}

function parsed(input: unknown): Parsed {
  const checked = parseArguments(slashInput, input);
  if (!checked.ok) return { ok: false, refused: refuse('INVALID_ARG', checked.message) };
  const reading = readSlash(checked.value.command);
  return reading.ok ? reading : { ok: false, refused: refuse(reading.code, reading.error) };
}

const slash: ToolsetTool = {
  spec: specOf({
    name: 'slash',
    description:
      'Run one slash command per call. fork [PROMPT]: create a child agent, with your whole context when no prompt is given, fresh otherwise; returns its UUID. send UUID MESSAGE: write to an agent. check-mail: read your inbox. kill UUID…: end children. Options of fork, before PROMPT: --profile NAME, --model NAME, --worktree (a git worktree of its own, to be merged), --read-first FILE (repeatable), --budget usd=N,tokens=N,seconds=N. This is no shell: MESSAGE is everything after the UUID to the end of the call, and PROMPT everything after fork and its options, with quotes, backslashes and line breaks exactly as written; only a pair of quotes around the whole PROMPT is taken off. No line of a text is run.',
    schema: slashInput,
  }),
  audience: (config) => !isSubAgent(config),
  creates(input) {
    const parsed = parse(input);
    return parsed.ok && parsed.command.name === 'fork';
  },
  surveys: true,
  mentions(input) {
    const parsed = parse(input);
    if (!parsed.ok) return [];
    const { command } = parsed;
    return command.name === 'send' ? [command.to] : command.name === 'kill' ? command.targets : [];
  },
  needs(input, call, self, terms) {
    const parsed = parse(input);
    return parsed.ok && parsed.command.name === 'fork' ? forkNeeds(parsed.command, call.id, self, terms) : [];
  },
  decode(input, call, view) {
    const parsed = parse(input);
    if (!parsed.ok) return parsed.refused;
    const nested = noNesting(view);
    if (nested !== null) return nested;
    const { command } = parsed;
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
};

function forkCommand(
  { name: _, prompt, ...terms }: Extract<SlashCommand, { name: 'fork' }>,
  key: string,
  view: ToolsetView,
): Decision {
  const id = view.newId();
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
  const report = [
    'When your work is done, report to your parent with one message, then stop:',
    `/slash send ${parent.id} {"status": "idle", "success": true, "summary": "what you accomplished and found"}`,
    'or, when it cannot be done:',
    `/slash send ${parent.id} {"status": "idle", "success": false, "error": "what went wrong", "partial": "progress made"}`,
  ].join('\n');
  const head = `${who}\n\n${report}`;
  if (task === null) return head;
  return `${head}\n\n${inherits ? '' : 'Your task:\n'}${storable(task)}`;
}

function sendCommand({ to, message }: Extract<SlashCommand, { name: 'send' }>, view: ToolsetView): Decision {
  const completion = completionIn(message);
  if (completion.type === 'invalid') return refuse('INVALID_ARG', completion.error);
  const body = completion.type === 'completion' ? completion.text : message;
  return sendLetter(view, to, 'UUID', body, ({ id }) => `sent to ${id}`);
}

/** Matches a text intended as a completion, valid or not. */
const COMPLETION = /^\s*["']?\s*\{\s*\\?["']?status\\?["']?\s*:\s*\\?["']?idle\b/;

/** Reads a completion message, which may be quoted as in a shell. A malformed one is refused, because nobody could use it. */
function completionIn(message: string): CompletionReading & { readonly text: string } {
  const whole = message.trim();
  const texts = [message, enclosed(whole) ?? '', whole.slice(1, -1)];
  const found = texts.find((text) => readCompletion(text).type === 'completion');
  if (found !== undefined) return { ...readCompletion(found), text: found };
  const reading = readCompletion(enclosed(whole) ?? message);
  if (reading.type !== 'none' || !COMPLETION.test(message)) return { ...reading, text: message };
  const error = 'the completion message is not valid JSON; write it as JSON, with nothing around it';
  return { type: 'invalid', error, text: message };
}

/** All unread mail from agents, oldest first, with completions formatted. Mail from people joins the conversation without `check-mail`. */
function checkMail(view: ToolsetView): Decision {
  const letters = view.letters.filter((letter) => letter.from_id !== null);
  if (letters.length === 0) return { type: 'settle', output: 'no mail', consequences: [] };
  return {
    type: 'settle',
    output: JSON.stringify(letters.map(shown)),
    consequences: [{ type: 'consume-mail', mail_ids: letters.map((letter) => letter.id) }],
  };
}

function shown(letter: Mail): object {
  const { from_id, from_name, body, sent_at, did } = letter;
  const head = { from: from_id, name: framedName(from_name), sent_at: new Date(sent_at).toISOString() };
  const completion = completionFrom(body);
  return completion === null ? { ...head, message: body, did } : { ...head, completion, did };
}

const GUIDANCE = `### Sub-Agents

You can fork child agents to work in parallel.

**Commands:**

\`\`\`
/slash fork [PROMPT]     Create child (inherit context or fresh start)
/slash send UUID MSG     Send message to any agent
/slash check-mail        Check your inbox
/slash kill UUID         Terminate a child
\`\`\`

One command per call: each line that begins with /slash here is a call of its own. What follows the UUID, or fork, is the text to the end of the call, line breaks included, exactly as written.

**When to fork:**
- Task is self-contained, doesn't need ongoing collaboration
- You want parallel exploration of multiple approaches
- Work benefits from isolated context

**When NOT to fork:**
- Task requires back-and-forth with you
- You need results immediately to continue
- Task is simple enough to do yourself

**Child lifecycle:**
1. Fork creates child, returns UUID
2. Child works, then sends completion message with status/summary
3. Child idles until you kill it or send more work

**Coordinating children:**
- Track UUIDs and what each child is doing
- Check mail when notified or periodically
- Share sibling UUIDs in prompts if children need to coordinate

**Example - parallel research:**
\`\`\`
/slash fork "Research approach A for the auth system"
/slash fork "Research approach B for the auth system"
# Continue other work...
# Later, check mail for results
/slash check-mail
\`\`\`

**Example - sibling coordination:**
\`\`\`
/slash fork "Analyze the database schema. Sibling UUID for API analysis: <UUID>"
\`\`\``;

export const slashToolset: Toolset = {
  name: 'slash',
  tools: [slash],
  guidance: GUIDANCE,
  letters: 'notice',
};
