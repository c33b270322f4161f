import type { Ask } from './ask.ts';
import { parseJson } from './json-text.ts';

/** Arguments that are longer are cut, and said to be: nobody shall allow what they took for the whole. */
const ARGUMENTS_MAX = 3_000;

/** What people outside are told of a call that waits for them, Markdown: who wants what, the arguments, and how to answer. Never empty. */
export function askText(ask: Ask): string {
  return [
    `**${ask.agent_name}** wants **${ask.tool}** and waits for you:`,
    fenced(shortened(argumentsOf(ask))),
    `in ${ask.cwd} · rule: ${ask.rule}`,
    `Answer: \`coppice approvals allow ${ask.id}\` or \`coppice approvals deny ${ask.id}\``,
  ].join('\n\n');
}

/** The subject where it is all that the call is given; else every argument. */
function argumentsOf({ input, subject }: Ask): string {
  const parsed = parseJson(input);
  if (!parsed.ok || typeof parsed.value !== 'object' || parsed.value === null) return input;
  const given = Object.values(parsed.value);
  return given.length === 1 && given[0] === subject ? subject : JSON.stringify(parsed.value, null, 2);
}

function shortened(text: string): string {
  if (text.length <= ARGUMENTS_MAX) return text;
  const rest = text.length - ARGUMENTS_MAX;
  return `${text.slice(0, ARGUMENTS_MAX).toWellFormed()}\n(${rest} more characters; whole: coppice approvals list --json)`;
}

/** A fence that nothing in the text can end. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}
