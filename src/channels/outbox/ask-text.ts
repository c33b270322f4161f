import type { Ask } from '../../records/conversation/ask.ts';
import { type AskPart, askParts } from '../../render/ask-parts.ts';
import { clean } from '../../render/clean.ts';
import { cutMiddle, SPELLED_NOTE } from '../../render/plain-sight.ts';

/** Arguments that are longer lose their middle, and say so: nobody shall allow what they took for the whole. Spelled, twice as long. */
const ARGUMENT_MAX = 3_000;

/** What people outside are told of a call that waits for them, Markdown: who wants what, the arguments, and how to answer. Never empty. */
export function askText(ask: Ask): string {
  const parts = askParts(ask, ARGUMENT_MAX);
  return [
    `**${clean(ask.agent_name)}** wants **${clean(ask.tool)}** and waits for you:`,
    ...parts.flatMap(partText),
    ...(parts.some(({ spelled }) => spelled) ? [`(${SPELLED_NOTE})`] : []),
    `in ${clean(ask.cwd)} · rule: ${clean(ask.rule)}`,
    `Answer: \`coppice approvals allow ${ask.id}\` or \`coppice approvals deny ${ask.id}\``,
  ].join('\n\n');
}

function partText({ name, is_subject, text, left_out, language }: AskPart): string[] {
  const block = fenced(cutMiddle(text, 2 * ARGUMENT_MAX, left_out), language);
  const whole =
    left_out > 0 || text.length > 2 * ARGUMENT_MAX ? ['(whole: coppice approvals list --json)'] : [];
  return [...(is_subject || name === '' ? [] : [`${name}:`]), block, ...whole];
}

/** A fence that nothing in the text can end. */
function fenced(text: string, language: AskPart['language']): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language === 'diff' ? language : ''}\n${text}\n${fence}`;
}
