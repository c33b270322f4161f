import type { Ask } from '../../../records/conversation/ask.ts';
import { askParts } from '../../../render/ask-parts.ts';
import { clean } from '../../../render/clean.ts';
import { cutMiddle, SPELLED_NOTE } from '../../../render/plain-sight.ts';
import type { FormattedText } from '../text/formatted-text.ts';
import { TextBuilder } from '../text/text-builder.ts';
import type { Button } from './outgoing-message.ts';

/** So much of one argument stands in the chat, twice as much when it is spelled; of a longer one the beginning and the end. */
const ARGUMENT_MAX = 20_000;

/** Who wants what, with all that the call would be given: that is what a person allows. */
export function askText(ask: Ask): FormattedText {
  const builder = new TextBuilder();
  builder.styled('bold', () => builder.write(clean(ask.agent_name)));
  builder.write(' wants: ');
  builder.styled('bold', () => builder.write(clean(ask.tool)));
  const parts = askParts(ask, ARGUMENT_MAX);
  for (const { name, is_subject, text, left_out, language } of parts) {
    builder.write(is_subject || name === '' ? '\n' : `\n${name}:\n`);
    builder.pre(cutMiddle(text, 2 * ARGUMENT_MAX, left_out), language);
  }
  if (parts.some(({ spelled }) => spelled)) builder.write(`\n⚠ ${SPELLED_NOTE}`);
  builder.write(`\ncwd ${clean(ask.cwd)}\nrule: ${clean(ask.rule)}`);
  if (ask.verdict !== null) builder.write(`\nno longer waits: ${verdictWord(ask)}`);
  return builder.build();
}

/** None for a question that is no longer open. */
export function askButtons(ask: Ask): readonly Button[] {
  if (ask.verdict !== null) return [];
  return [
    { label: 'Allow once', data: `y:${ask.id}` },
    { label: 'Allow for this agent', data: `s:${ask.id}` },
    { label: 'Deny', data: `n:${ask.id}` },
  ];
}

function verdictWord({ verdict }: Ask): string {
  return verdict === 'allow' ? 'allowed' : verdict === 'deny' ? 'denied' : 'taken back';
}
