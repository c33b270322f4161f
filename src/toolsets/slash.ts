import { z } from 'zod';
import type { Agent } from '../core/agent.ts';
import { type CompletionReading, readCompletion } from '../core/completion.ts';
import { parseJson } from '../core/json-text.ts';
import type { Mail } from '../core/mail.ts';
import { isSubAgent } from '../core/sub-agent.ts';
import { storable } from '../core/text.ts';
import { refuse } from './agent-reference.ts';
import { inputSchema, parseArguments } from './arguments.ts';
import { forkAgent, forkNeeds } from './fork-agent.ts';
import { killAgent } from './kill-agent.ts';
import { noNesting } from './nesting.ts';
import { nameOfTask } from './new-child.ts';
import { sendLetter } from './send-letter.ts';
import { joinWords, type SlashWord, slashWords } from './slash-command.ts';
import type { Decision, Toolset, ToolsetTool, ToolsetView } from './toolset.ts';

/**
 * Seed 2: beside `bash` the model sees one tool, `slash`, whose commands fork, write, read and end. A child rests when its work is
 * done and says so in one structured message; letters are announced by a notice and read with `check-mail`.
 */

const USAGE = {
  fork: 'fork [--profile NAME] [PROMPT]',
  send: 'send UUID MESSAGE',
  'check-mail': 'check-mail',
  kill: 'kill UUID',
} as const;

type CommandName = keyof typeof USAGE;

type Command =
  | { readonly name: 'fork'; readonly prompt: string | null; readonly profile: string | null }
  | { readonly name: 'send'; readonly to: string; readonly message: string }
  | { readonly name: 'check-mail' }
  | { readonly name: 'kill'; readonly target: string };

type Parsed =
  | { readonly ok: true; readonly command: Command }
  | { readonly ok: false; readonly refused: Extract<Decision, { type: 'refuse' }> };

const slashInput = z.strictObject({
  command: z.string().describe('One command: fork [PROMPT], send UUID MESSAGE, check-mail, or kill UUID.'),
});

/** What the model wrote, as a command. The leading `/slash` that models tend to repeat is no part of it. */
function parse(input: unknown): Parsed {
  const parsed = parseArguments(slashInput, input);
  if (!parsed.ok) return { ok: false, refused: refuse('INVALID_ARG', parsed.message) };
  const line = parsed.value.command.replace(/^\s*(\/?slash(?=\s|$)\s*)?/, '');
  const split = slashWords(line);
  if (!split.ok) return wrong('INVALID_ARG', `${split.error}. Usage: ${usageOf(line)}`);
  const [first, ...rest] = split.words;
  const name = (first?.text ?? '').replace(/^\//, '');
  if (!Object.hasOwn(USAGE, name))
    return wrong(
      'UNKNOWN_COMMAND',
      `${name === '' ? 'no command' : `unknown command "${name}"`}. Usage:\n${Object.values(USAGE).join('\n')}`,
    );
  const usage = (problem: string) => wrong('INVALID_ARG', `${problem}. Usage: ${USAGE[name as CommandName]}`);
  switch (name as CommandName) {
    case 'fork':
      return parseFork(rest, usage);
    case 'send': {
      const [to, ...said] = rest;
      if (to === undefined || to.text === '') return usage('the UUID is missing');
      const message = messageOf(line, said);
      if (message.trim() === '') return usage('the MESSAGE is empty');
      return { ok: true, command: { name: 'send', to: to.text, message } };
    }
    case 'check-mail':
      return rest.length > 0
        ? usage('check-mail takes no arguments')
        : { ok: true, command: { name: 'check-mail' } };
    case 'kill': {
      const [target, more] = rest;
      if (target === undefined || target.text === '') return usage('the UUID is missing');
      if (more !== undefined) return usage('one UUID at a time');
      return { ok: true, command: { name: 'kill', target: target.text } };
    }
  }
}

function wrong(code: 'INVALID_ARG' | 'UNKNOWN_COMMAND', message: string): Parsed {
  return { ok: false, refused: refuse(code, message) };
}

function usageOf(line: string): string {
  const name = line.split(/\s/, 1)[0]?.replace(/^\//, '') ?? '';
  return Object.hasOwn(USAGE, name) ? USAGE[name as CommandName] : Object.values(USAGE).join(' | ');
}

function parseFork(words: readonly SlashWord[], usage: (problem: string) => Parsed): Parsed {
  const [first, profile, ...rest] = words;
  if (first?.text !== '--profile') return fork(null, words);
  if (profile === undefined || profile.text === '') return usage('the NAME of the profile is missing');
  return fork(profile.text, rest);
}

function fork(profile: string | null, words: readonly SlashWord[]): Parsed {
  const prompt = joinWords(words);
  return { ok: true, command: { name: 'fork', profile, prompt: prompt.trim() === '' ? null : prompt } };
}

/** JSON is taken as it was written, since a completion message is rarely quoted; anything else as a shell reads its words. */
function messageOf(line: string, words: readonly SlashWord[]): string {
  const raw = line.slice(words[0]?.start ?? line.length);
  return raw.startsWith('{') && isJson(raw) ? raw : joinWords(words);
}

function isJson(text: string): boolean {
  return parseJson(text).ok;
}

const slash: ToolsetTool = {
  spec: {
    name: 'slash',
    description:
      'Run one slash command. fork [PROMPT]: create a child agent, with your whole context when no prompt is given, fresh otherwise; returns its UUID. send UUID MESSAGE: write to an agent. check-mail: read your inbox. kill UUID: end a child.',
    input: inputSchema(slashInput),
  },
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
    return command.name === 'send' ? [command.to] : command.name === 'kill' ? [command.target] : [];
  },
  needs(input, _call, self, terms) {
    const parsed = parse(input);
    return parsed.ok && parsed.command.name === 'fork' ? forkNeeds(parsed.command.profile, self, terms) : [];
  },
  decode(input, _call, view) {
    const parsed = parse(input);
    if (!parsed.ok) return parsed.refused;
    const nested = noNesting(view);
    if (nested !== null) return nested;
    const { command } = parsed;
    switch (command.name) {
      case 'fork':
        return forkCommand(command, view);
      case 'send':
        return sendCommand(command, view);
      case 'check-mail':
        return checkMail(view);
      case 'kill':
        return killAgent(view, command.target, 'UUID', (killed) => `killed ${killed.join(' ')}`);
    }
  },
};

function forkCommand({ prompt, profile }: Extract<Command, { name: 'fork' }>, view: ToolsetView): Decision {
  const id = view.newId();
  const name = prompt === null ? `fork-${id.slice(0, 8)}` : nameOfTask(prompt, null);
  return forkAgent(view, {
    id,
    name,
    profile,
    inherits: prompt === null,
    text: identity(id, name, view.self, prompt),
    output: id,
  });
}

/** What a child learns of itself: the UUID of its parent, and how to report. */
function identity(id: string, name: string, parent: Agent, prompt: string | null): string {
  const who =
    prompt === null
      ? `You are now the child agent "${name}" (UUID ${id}), forked from your parent (UUID ${parent.id}), which goes on without you. The conversation above is your memory; do your part of the work now.`
      : `You are the child agent "${name}" (UUID ${id}). Your parent has the UUID ${parent.id}.`;
  const report = [
    'When your work is done, report to your parent with one message, then stop:',
    `/slash send ${parent.id} '{"status": "idle", "success": true, "summary": "what you accomplished and found"}'`,
    'or, when it cannot be done:',
    `/slash send ${parent.id} '{"status": "idle", "success": false, "error": "what went wrong", "partial": "progress made"}'`,
  ].join('\n');
  return prompt === null ? `${who}\n\n${report}` : `${who}\n\n${report}\n\nYour task:\n${storable(prompt)}`;
}

function sendCommand({ to, message }: Extract<Command, { name: 'send' }>, view: ToolsetView): Decision {
  // Quotes that the shell's rules took away: what arrives would be no completion to anybody.
  if (message.startsWith('{') && !isJson(message) && /\bstatus\b/.test(message))
    return refuse(
      'INVALID_ARG',
      `the completion message is not valid JSON once its quotes are read as a shell reads them; put it in single quotes. Usage: ${USAGE.send}`,
    );
  const reading: CompletionReading = readCompletion(message);
  if (reading.type === 'invalid') return refuse('INVALID_ARG', reading.error);
  return sendLetter(view, to, 'UUID', message, ({ id }) => `sent to ${id}`);
}

/** All letters of agents at once, oldest first, completions shown as such; a person's join the conversation by themselves. */
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
  const { from_id, from_name, body, sent_at } = letter;
  const head = { from: from_id, name: from_name, sent_at: new Date(sent_at).toISOString() };
  const reading = readCompletion(body);
  return reading.type === 'completion'
    ? { ...head, completion: reading.completion }
    : { ...head, message: body };
}

/** Seed 2, System Prompt Guidance. */
const GUIDANCE = `### Sub-Agents

You can fork child agents to work in parallel.

**Commands:**

\`\`\`
/slash fork [PROMPT]     Create child (inherit context or fresh start)
/slash send UUID MSG     Send message to any agent
/slash check-mail        Check your inbox
/slash kill UUID         Terminate a child
\`\`\`

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
