/**
 * The slash vocabulary in two stories: parallel research, and siblings that coordinate. Each is one `coppice run --toolset slash` in a
 * process of its own, on a scripted model, so the example runs offline; the shell commands of the agents are real.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(import.meta.resolve('coppice/cli'));
const folder = mkdtempSync(join(tmpdir(), 'coppice-example-'));

const slash = (command: string) => ({ name: 'slash', input: { command } });
const bash = (command: string) => ({ name: 'bash', input: { command } });
/** The message by which a child says that its work is done; it rests then, and can be given more. */
const report = (summary: string) =>
  slash(`send {{parent_id}} '${JSON.stringify({ status: 'idle', success: true, summary })}'`);

/** A parent that reads its mail when it is told of any, until both children have reported; they may do so together or in turn. */
const READING = [
  {
    when: { root: true, tool: 'slash', result: '^\\[\\{.*\\},\\{' },
    say: 'Both: {{result.0.completion.summary}}; {{result.1.completion.summary}}',
  },
  { when: { root: true, tool: 'slash', result: '^\\[\\{' }, once: true, say: 'One report is in.' },
  {
    when: { root: true, tool: 'slash', result: '^\\[\\{' },
    say: 'Both: {{results.slash.2.0.completion.summary}}; {{results.slash.3.0.completion.summary}}',
  },
  { when: { root: true, user: '^got mail from ' }, calls: [slash('check-mail')] },
  { when: { root: true }, say: 'My children are at work; I go on when they write.' },
];

const research = [
  {
    when: { root: true, step: 0 },
    calls: [
      slash('fork "Research approach A for the auth system"'),
      slash('fork "Research approach B for the auth system"'),
    ],
  },
  { when: { root: true, step: 1 }, say: 'Other work goes on.', calls: [bash('ls auth')] },
  ...READING,
  ...['a', 'b'].flatMap((approach) => [
    {
      when: { agent: `research-approach-${approach}-*`, step: 0 },
      calls: [bash(`printf %s "$(cat auth/${approach}.md)"`)],
    },
    { when: { agent: `research-approach-${approach}-*`, step: 1 }, calls: [report('{{results.bash.0}}')] },
  ]),
  { say: 'Reported; I rest.' },
];

const siblings = [
  // It looks for mail until its sibling writes. If it rested instead, its words at that moment would be told to its parent as its report.
  { when: { root: true, step: 0 }, calls: [slash('fork')] },
  {
    when: { root: true, step: 1 },
    calls: [slash('fork "Analyze the database schema. Sibling UUID for API analysis: {{results.slash.0}}"')],
  },
  ...READING,
  {
    when: { agent: 'analyze-the-database-*', step: 0 },
    calls: [bash('printf %s "$(sed -n "s/^create table \\([a-z]*\\).*/\\1/p" schema.sql | paste -sd + -)"')],
  },
  {
    when: { agent: 'analyze-the-database-*', step: 1 },
    calls: [
      slash('send {{user.API analysis: (\\S+)}} The tables: {{results.bash.0}}'),
      report('the schema has {{results.bash.0}}'),
    ],
  },
  {
    when: { agent: 'fork-*', tool: 'slash', result: 'The tables' },
    calls: [report('the API serves {{result.0.message}}')],
  },
  { when: { tool: 'slash', result: '^sent' }, say: 'Reported; I rest.' },
  { calls: [bash('sleep 0.2'), slash('check-mail')] },
];

/** A line of `coppice run --events`; the last one is the outcome. */
interface Line {
  readonly type?: string;
  readonly created?: boolean;
  readonly agent?: { readonly id: string; readonly name: string };
  readonly mail?: { readonly from_name: string; readonly to_id: string; readonly body: string };
  readonly agent_id?: string;
  readonly message?: {
    readonly kind: string;
    readonly content: { readonly origin?: string; readonly text?: string };
  };
  readonly reply?: string;
}

/** Runs one story, tells it, and returns the last answer of the parent. */
function tell(title: string, prompt: string, rules: readonly object[]): string {
  console.log(`\n${title}`);
  const place = mkdtempSync(join(folder, 'story-'));
  mkdirSync(join(place, 'auth'));
  writeFileSync(join(place, 'auth', 'a.md'), 'sessions in cookies');
  writeFileSync(join(place, 'auth', 'b.md'), 'signed tokens');
  writeFileSync(join(place, 'schema.sql'), 'create table users (id);\ncreate table orders (id);\n');
  writeFileSync(join(place, 'rules.json'), JSON.stringify({ rules }));
  const out = execFileSync(
    process.execPath,
    [MAIN, 'run', prompt, '--model', 'scripted:rules.json', '--toolset', 'slash', '--yes', '--events'],
    { cwd: place, env: { PATH: process.env.PATH, HOME: place }, encoding: 'utf8' },
  );
  const lines = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
  const names = new Map<string, string>();
  const named = (text: string): string => text.replace(/[0-9a-f-]{36}/g, (id) => names.get(id) ?? id);
  for (const { type, created, agent, mail, agent_id = '', message } of lines) {
    if (type === 'agent' && agent !== undefined && created) {
      names.set(agent.id, agent.name);
      console.log(`+ ${agent.name}`);
    }
    if (mail !== undefined) console.log(`✉ ${mail.from_name} → ${named(mail.to_id)}: ${mail.body}`);
    if (message?.content.origin === 'mail')
      console.log(`! ${named(agent_id)}: ${named(message.content.text ?? '').replaceAll('\n', ', ')}`);
  }
  const reply = lines.at(-1)?.reply ?? '';
  console.log(`= ${reply}`);
  return reply;
}

function expect(reply: string, ...parts: readonly string[]): void {
  const heard = reply.replace('Both: ', '').split('; ').sort();
  if (JSON.stringify(heard) === JSON.stringify([...parts].sort())) return;
  console.error(`not what was expected: ${parts.join('; ')}`);
  process.exitCode = 1;
}

try {
  const found = tell('Parallel research', 'How should users sign in?', research);
  expect(found, 'sessions in cookies', 'signed tokens');
  const agreed = tell('Siblings that coordinate', 'Does the API fit the schema?', siblings);
  expect(agreed, 'the schema has users+orders', 'the API serves The tables: users+orders');
} finally {
  rmSync(folder, { recursive: true });
}
