import { ruleNotice } from '../../../permissions/shell/program.ts';
import type { Ask } from '../../../records/conversation/ask.ts';
import { clean } from '../../../render/clean.ts';
import { sign, type UiStyle } from '../../../render/style.ts';
import {
  alsoAnswered,
  chosenRule,
  GRANT_SCOPES,
  proposedRules,
  writtenFault,
} from '../../state/grant-draft.ts';
import type { GrantDraft, HeldLetter, UiState } from '../../state/ui-state.ts';
import { columns, type Part } from '../../text/line.ts';
import { wrap } from '../../text/wrap.ts';
import { type AskingKeys, key } from './answer-rows.ts';

type Row = readonly Part[];

const SCOPES: Readonly<Record<GrantDraft['scope'], string>> = {
  turn: 'this turn',
  agent: 'this agent',
  session: 'this tree',
  always: 'for good',
};

/** The rule that is to be granted, in full, and how far it reaches; below them, the keys. */
export function grantRows(
  state: UiState,
  ask: Ask,
  draft: GrantDraft,
  held: HeldLetter | null,
  { shortcuts, drafting, rules_file = 'rules.json' }: AskingKeys,
  width: number,
  style: UiStyle,
): readonly Row[] {
  if (draft.editing !== null) return editingRows(draft, ask, width, style);
  const rule = chosenRule(draft);
  if (rule === null)
    return [
      ...told(`no rule is proposed: ${proposedRules(ask).why ?? ''}`, 'yellow', width, style),
      [key('e'), ' write one   ', key('Esc'), ' back'],
    ];
  const also = alsoAnswered(state, ask, draft);
  const rows: Row[] = [
    ...told(`allow from now on: ${clean(rule)}`, 'bold', width, style),
    [`for: `, ...scopesIn(width, draft.scope)],
    ...told(reachText(draft, ask, rules_file), 'dim', width, style),
    ...ruleNotice(rule).flatMap((notice) => told(clean(notice), 'yellow', width, style)),
    ...(also === 0
      ? []
      : [[['yellow', `answers ${also} more that ${also === 1 ? 'waits' : 'wait'}`] as const]]),
  ];
  if (held !== null)
    return [...rows, [key(held.text), held.answer === 'allow' ? ' grants it in a moment' : ' …']];
  const grants = drafting ? shortcuts.whole('allow') : 'y';
  const writes = drafting ? shortcuts.whole('edit_rule') : 'e';
  return [
    ...rows,
    [
      ...(grants === null ? [] : [key(grants), width >= 50 ? ' grant it   ' : ' grant  ']),
      ...(draft.rules.length > 1
        ? [key(`${sign(style, '↑')} ${sign(style, '↓')}`), width >= 50 ? ' narrower, wider   ' : ' rule  ']
        : []),
      key(`${sign(style, '←')} ${sign(style, '→')}`),
      width >= 50 ? ' how far   ' : ' far  ',
      ...(writes === null ? [] : [key(writes), width >= 50 ? ' write it   ' : ' write  ']),
      key('Esc'),
      ' back',
    ],
  ];
}

function editingRows(draft: GrantDraft, ask: Ask, width: number, style: UiStyle): readonly Row[] {
  const fault = writtenFault(draft, ask);
  return [
    ...told(`rule: ${clean(draft.editing ?? '')}_`, 'bold', width, style),
    ...(fault === null ? [] : told(clean(fault), 'yellow', width, style)),
    [['dim', 'Enter takes it; nothing is granted yet   Esc back']],
  ];
}

/** All scopes if there is room, otherwise the chosen one. */
function scopesIn(width: number, chosen: GrantDraft['scope']): readonly Part[] {
  const all = GRANT_SCOPES.flatMap((scope) => scopePart(scope, chosen));
  return columns(['for: ', ...all]) <= width + 1 ? all : scopePart(chosen, chosen);
}

function scopePart(scope: GrantDraft['scope'], chosen: GrantDraft['scope']): Part[] {
  return [scope === chosen ? ['bold', `[${SCOPES[scope]}]`] : ` ${SCOPES[scope]} `, ' '];
}

/** Whom the rule reaches, and where it is kept. */
function reachText({ scope }: GrantDraft, ask: Ask, rules_file: string): string {
  const name = clean(ask.agent_name);
  switch (scope) {
    case 'turn':
      return `only ${name}, until its turn ends`;
    case 'agent':
      return `only ${name}, until it ends`;
    case 'session':
      return 'every agent of this tree, until the tree ends';
    case 'always':
      return `every agent in ${clean(ask.cwd)}, in later trees too; kept in ${clean(rules_file)}`;
  }
}

/** Wraps a text into as many rows as it takes: no part of a rule is hidden. */
function told(text: string, paint: 'bold' | 'dim' | 'yellow', width: number, style: UiStyle): readonly Row[] {
  return wrap(text, width, style).map((row) => [[paint, row]]);
}
