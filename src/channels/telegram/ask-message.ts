import type { Ask } from '../../core/ask.ts';
import { clean } from '../../render/clean.ts';
import type { FormattedText } from './formatted-text.ts';
import type { Button } from './outgoing-message.ts';
import { TextBuilder } from './text-builder.ts';

/** Characters that are not seen, or that turn the order of what is seen; line breaks and tabs are seen. */
const HIDDEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{DI}]/gu;

/** Who wants what, with all that the call would be given: that is what a person allows. */
export function askText(ask: Ask): FormattedText {
  const builder = new TextBuilder();
  builder.styled('bold', () => builder.write(clean(ask.agent_name)));
  builder.write(' wants: ');
  builder.styled('bold', () => builder.write(clean(ask.tool)));
  let hidden = false;
  for (const { text, language } of argumentsOf(ask)) {
    builder.write('\n');
    const shown = text.replaceAll(HIDDEN, spelled);
    hidden ||= shown !== text;
    builder.pre(shown, language);
  }
  if (hidden) builder.write('\n⚠ hidden characters are spelled as \\u{…}');
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

/** As the model wrote them; of a shell command, what stands beside it comes after it. */
function argumentsOf({ tool, input }: Ask): { readonly text: string; readonly language: string }[] {
  const value = parsed(input);
  if (value === undefined) return [{ text: input === '' ? '(no arguments)' : input, language: '' }];
  if (tool !== 'bash' || typeof value !== 'object' || value === null || !('command' in value))
    return [{ text: JSON.stringify(value, null, 2), language: 'json' }];
  const { command, ...others } = value;
  if (typeof command !== 'string' || command === '')
    return [{ text: JSON.stringify(value, null, 2), language: 'json' }];
  const rest = Object.keys(others).length === 0 ? [] : [others];
  return [
    { text: command.toWellFormed(), language: 'bash' },
    ...rest.map((one) => ({ text: JSON.stringify(one, null, 2), language: 'json' })),
  ];
}

function parsed(input: string): unknown {
  try {
    return JSON.parse(input);
  } catch {
    return undefined;
  }
}

function spelled(character: string): string {
  return `\\u{${(character.codePointAt(0) as number).toString(16)}}`;
}

function verdictWord({ verdict }: Ask): string {
  return verdict === 'allow' ? 'allowed' : verdict === 'deny' ? 'denied' : 'taken back';
}
