import type { PermissionOption, ToolCallContent } from '@agentclientprotocol/sdk';
import { offeredRule } from '../../permissions/grants/propose-rules.ts';
import type { Ask, AskAnswer } from '../../records/conversation/ask.ts';
import { choicesFor, type FormField, neededField } from '../../records/question/form-field.ts';
import { questionOf } from '../../records/question/question.ts';
import { eachAskPart } from '../../render/ask-parts.ts';
import { fenced } from '../../render/clean.ts';
import { textContent } from '../updates/tool-call-view.ts';

type Answer = Pick<AskAnswer, 'verdict' | 'scope' | 'rule' | 'note' | 'values'>;

/** Maximum characters shown of an argument; a longer one is visibly cut in the middle. */
const ARGUMENT_MAX = 40_000;
const CHOICES_MAX = 20;

/** The answers that a person may give, from the narrowest to the widest; the rules are those that the terminal UI proposes. */
export function permissionOptions(ask: Ask): PermissionOption[] {
  const question = questionOf(ask);
  if (question !== null) return questionOptions(question.fields);
  const rule = offeredRule(ask);
  const granting: PermissionOption[] =
    rule === undefined
      ? []
      : [
          { optionId: 'session', kind: 'allow_always', name: `Allow ${rule} in this conversation` },
          { optionId: 'always', kind: 'allow_always', name: `Always allow ${rule} in this folder` },
        ];
  return [
    { optionId: 'once', kind: 'allow_once', name: 'Allow once' },
    ...granting,
    { optionId: 'deny', kind: 'reject_once', name: 'Reject' },
  ];
}

/** A form with a single missing field can be answered by choosing its value; a value that has to be typed cannot be given here. */
function questionOptions(fields: readonly FormField[]): PermissionOption[] {
  const decline: PermissionOption = { optionId: 'deny', kind: 'reject_once', name: 'Decline' };
  if (!fields.some((field) => field.required && field.default === undefined))
    return [{ optionId: 'once', kind: 'allow_once', name: 'Accept' }, decline];
  const needed = neededField(fields);
  if (needed === null) return [decline];
  const options = choicesFor(needed)
    .slice(0, CHOICES_MAX)
    .map(
      ({ value, title }): PermissionOption => ({
        optionId: `value:${value}`,
        kind: 'allow_once',
        name: `${needed.title ?? needed.name}: ${title ?? value}`,
      }),
    );
  return [...options, decline];
}

/** The answer that an option stands for; null if there is no such option. */
export function answerOf(ask: Ask, option_id: string): Answer | null {
  if (option_id === 'once') return { verdict: 'allow', scope: 'once', note: '' };
  if (option_id === 'deny') return { verdict: 'deny', scope: 'once', note: '' };
  const question = questionOf(ask);
  if (question !== null) {
    const value = /^value:([\s\S]*)$/.exec(option_id)?.[1];
    return value === undefined ? null : { verdict: 'allow', scope: 'once', note: '', values: { '': value } };
  }
  const rule = offeredRule(ask);
  if (rule === undefined || (option_id !== 'session' && option_id !== 'always')) return null;
  return { verdict: 'allow', scope: option_id, rule, note: '' };
}

/** The whole call, for a person to judge: every argument, and the change that it would make. */
export function askContent(ask: Ask): ToolCallContent[] {
  const content: ToolCallContent[] = [];
  for (const { name, text, left_out, language } of eachAskPart(ask, ARGUMENT_MAX)) {
    const heading = name === '' ? '' : `${name}:\n`;
    content.push(textContent(`${heading}${fenced(text, language)}`));
    if (left_out > 0)
      content.push(textContent(`whole: raw input, or coppice approvals show ${ask.id.slice(0, 8)}`));
  }
  if ((questionOf(ask)?.fields.length ?? 0) > 0)
    content.push(textContent(`fill it in: coppice approvals allow ${ask.id.slice(0, 8)} --value NAME=VALUE`));
  return [...content, textContent(`in ${ask.cwd} · rule: ${ask.rule}`)];
}
