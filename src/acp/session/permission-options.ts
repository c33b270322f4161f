import type { PermissionOption, ToolCallContent } from '@agentclientprotocol/sdk';
import { proposeRules } from '../../permissions/grants/propose-rules.ts';
import type { Ask, AskAnswer } from '../../records/conversation/ask.ts';
import { eachAskPart } from '../../render/ask-parts.ts';
import { fenced, textContent } from '../updates/tool-call-view.ts';

type Answer = Pick<AskAnswer, 'verdict' | 'scope' | 'rule' | 'note'>;

/** Characters of an argument that are shown; of a longer one, its middle is left out, which is said. */
const ARGUMENT_MAX = 20_000;

/** What a person may answer, from the narrowest to the widest; the rules are those that the terminal UI proposes. */
export function permissionOptions(ask: Ask): PermissionOption[] {
  const { rules, first } = proposeRules(ask);
  const rule = rules[first];
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

/** The answer behind an option; null: there is no such option. */
export function answerOf(ask: Ask, option_id: string): Answer | null {
  if (option_id === 'once') return { verdict: 'allow', scope: 'once', note: '' };
  if (option_id === 'deny') return { verdict: 'deny', scope: 'once', note: '' };
  const { rules, first } = proposeRules(ask);
  const rule = rules[first];
  if (rule === undefined || (option_id !== 'session' && option_id !== 'always')) return null;
  return { verdict: 'allow', scope: option_id, rule, note: '' };
}

/** The call with nothing hidden in it: every argument, and what would change. */
export function askContent(ask: Ask): ToolCallContent[] {
  const content: ToolCallContent[] = [];
  for (const { name, text, language } of eachAskPart(ask, ARGUMENT_MAX)) {
    const heading = name === '' ? '' : `${name}:\n`;
    content.push(textContent(`${heading}${fenced(text, language)}`));
  }
  return [...content, textContent(`in ${ask.cwd} · rule: ${ask.rule}`)];
}
