import { ruleNotice } from '../../../permissions/shell/program.ts';
import { pathUp } from '../../../records/agent/agent.ts';
import type { Ask } from '../../../records/conversation/ask.ts';
import { counted } from '../../../records/text/text.ts';
import { duration } from '../../../render/amounts.ts';
import { clean } from '../../../render/clean.ts';
import { fit, sign, type UiStyle } from '../../../render/style.ts';
import { STANDARD_SHORTCUTS } from '../../keys/shortcuts.ts';
import {
  alsoAnswered,
  chosenRule,
  GRANT_SCOPES,
  proposedRules,
  writtenFault,
} from '../../state/grant-draft.ts';
import type { GrantDraft, HeldLetter, Question, UiState } from '../../state/ui-state.ts';
import { columns, line, type Part, rowWithSigns, separator } from '../../text/line.ts';
import { wrap } from '../../text/wrap.ts';
import { type AskingKeys, answerRows, key } from './answer-rows.ts';
import { subjectLines, subjectRows } from './asked-call.ts';

/** Rows other than the call itself and the keys: frame, folder and rule. */
const FIXED = 3;
const ACCESSIBLE_FIXED = 2;
/** Minimum columns for the folder, however long the rule is. */
const CWD_MIN = 12;
/** Rows of keys without a grant. */
const KEYS = 2;
/** Waiting time from which on the box shows it. */
const TOLD_AFTER_MS = 60_000;

/** The approval at the head of the queue: who asks, from where in the tree, and for what exactly. There is no default answer. */
export function approvalBox(
  state: UiState,
  question: Question,
  width: number,
  height: number,
  style: UiStyle,
  keys: AskingKeys = { shortcuts: STANDARD_SHORTCUTS, drafting: false },
): string[] {
  const [ask] = state.asks;
  if (ask === undefined) return [];
  const wide = width;
  const title = titleOf(state, ask, keys.lineage?.map(clean) ?? path(state, ask), wide - 6, style);
  const keysIn = (room: number) =>
    question.grant === null
      ? answerRows(ask, question, keys, room, likeIt(state, ask))
      : grantRows(state, ask, question.grant, question.held, keys, room, style);
  const fixed = keysIn(wide - 4).length + (style.accessible ? ACCESSIBLE_FIXED : FIXED);
  const rows: (readonly Part[])[] = [
    ...subjectRows(ask, question.page, wide - 4, Math.max(1, height - fixed), style, keys.whole),
    placeRow(state, ask, wide - 4, style),
    ...keysIn(wide - 4),
  ];
  const lines = box(title, rows, wide, style);
  if (lines.length <= height || style.accessible) return lines.slice(0, height);
  // No room for the frame: the call and the keys take precedence.
  const kept = [[['bold', title] as const], rows[0] ?? [], ...keysIn(wide)];
  return box(title, kept.slice(1), wide, { ...style, accessible: true }).slice(0, height);
}

/** The folder, cut at its beginning since its end says most, the rule, and how long the question has waited. */
function placeRow(state: UiState, ask: Ask, width: number, style: UiStyle): readonly Part[] {
  const rule = `${separator(style)}rule: ${clean(ask.rule)}`;
  const waiting = waitingText(state.now - ask.asked_at, style);
  const cwd = clean(ask.cwd);
  const room = Math.max(CWD_MIN, width - columns(['cwd ', rule, waiting]));
  const parts = cwd.split('/');
  const ends = parts.map((_, from) =>
    from === 0 ? cwd : `${sign(style, '…')}/${parts.slice(from).join('/')}`,
  );
  const shown = ends.find((one) => columns([one]) <= room) ?? ends.at(-1);
  return [
    ['dim', `cwd ${shown}${rule}`],
    ['yellow', waiting],
  ];
}

/** Empty during the first minute, and in accessible mode, where it would be read out again every second. */
function waitingText(ms: number, style: UiStyle): string {
  return ms < TOLD_AFTER_MS || style.accessible ? '' : `${separator(style)}waiting ${duration(ms)}`;
}

/** Whether the question may be too long for a screen of `height` rows, so that it has pages. */
export function hasPages(ask: Ask, width: number, height: number, style: UiStyle): boolean {
  const { lines } = subjectLines(ask, width - 4, style);
  return lines.length > Math.floor(height / 2) - FIXED - KEYS;
}

/** The title: who asks, from where in the tree, for which tool; as much as fits, the tool always. */
function titleOf(state: UiState, ask: Ask, names: readonly string[], width: number, style: UiStyle): string {
  const dash = style.accessible ? '-' : sign(style, '─');
  const count = `1 of ${state.asks.length}`;
  const tool = clean(ask.tool);
  const full = names.join(style.accessible ? ' > ' : ` ${sign(style, '›')} `);
  const titles = [
    `${count} ${dash} ${full} wants: ${tool}`,
    `${count} ${dash} ${names.at(-1)} wants: ${tool}`,
    `${tool}: ${names.at(-1)} ${count}`,
  ];
  return titles.find((title) => columns([title]) <= width) ?? (titles[2] as string);
}

/** Names from the root down to the agent that asks: `main`, `file-reader`, `grep-all`. */
function path(state: UiState, ask: Ask): readonly string[] {
  const up = pathUp(ask.agent_id, (id) => state.agents.get(id));
  return up.toReversed().map((id) => clean(state.agents.get(id)?.name ?? ask.agent_name));
}

/** Number of other open questions that `Y` would show. */
function likeIt(state: UiState, ask: Ask): number {
  const { rules, first } = proposedRules(ask);
  const draft = { ...ALIKE, rules: rules.slice(first, first + 1), waiting: state.asks.map(({ id }) => id) };
  return alsoAnswered(state, ask, draft).length;
}

const ALIKE = { at: 0, scope: 'waiting', editing: null, typed: null } as const;

type Row = readonly Part[];

const SCOPES: Readonly<Record<GrantDraft['scope'], string>> = {
  waiting: 'these, once',
  turn: 'this turn',
  agent: 'this agent',
  session: 'this tree',
  always: 'for good',
};

/** The rule that is to be granted, in full, and how far it reaches; below them, the keys. */
function grantRows(
  state: UiState,
  ask: Ask,
  draft: GrantDraft,
  held: HeldLetter | null,
  { rules_file = 'rules.json' }: AskingKeys,
  width: number,
  style: UiStyle,
): readonly Row[] {
  if (draft.editing !== null) return editingRows(draft, ask, width, style);
  const rule = chosenRule(draft);
  const also = alsoAnswered(state, ask, draft);
  const is_once = draft.scope === 'waiting';
  if (rule === null && !is_once)
    return [
      ...wrappedRows(`no rule is proposed: ${proposedRules(ask).why ?? ''}`, 'yellow', width, style),
      [key('e'), ' write one   ', key('Esc'), ' back'],
    ];
  const more = `${counted(also.length, 'more that waits', 'more that wait')}`;
  const with_it = also.length === 0 ? 'no other that waits is like it' : `with ${more}`;
  const what = is_once ? `allow once, ${with_it}` : 'allow from now on';
  const rows: Row[] = [
    ...wrappedRows(`${what}: ${clean(rule ?? 'the same call')}`, 'bold', width, style),
    ...(is_once ? alikeRows(also) : []),
    [`for: `, ...scopesIn(width, draft.scope)],
    ...(is_once ? [] : wrappedRows(reachText(draft.scope, ask, rules_file), 'dim', width, style)),
    ...ruleNotice(rule ?? '').flatMap((notice) => wrappedRows(clean(notice), 'yellow', width, style)),
    ...(also.length === 0 || is_once ? [] : [[['yellow', `answers ${more}`] as const]]),
  ];
  if (held !== null)
    return [...rows, [key(held.text), held.answer === 'allow' ? ' grants it in a moment' : ' …']];
  const grant = is_once ? 'allow' : 'grant';
  return [
    ...rows,
    [
      ...[key('y'), width >= 50 ? ` ${grant} ${is_once ? 'them' : 'it'}   ` : ` ${grant}  `],
      ...(draft.rules.length > 1
        ? [key(`${sign(style, '↑')} ${sign(style, '↓')}`), width >= 50 ? ' narrower, wider   ' : ' rule  ']
        : []),
      key(`${sign(style, '←')} ${sign(style, '→')}`),
      width >= 50 ? ' how far   ' : ' far  ',
      ...[key('e'), width >= 50 ? ' write it   ' : ' write  '],
      key('Esc'),
      ' back',
    ],
  ];
}

/** Maximum rows of the calls that are allowed together. */
const ALIKE_MAX = 6;

function alikeRows(also: readonly Ask[]): readonly Row[] {
  const shown = also.length > ALIKE_MAX ? also.slice(0, ALIKE_MAX - 1) : also;
  const rows = shown.map((ask): Row => [['dim', `  ${clean(ask.agent_name)}  `], clean(ask.subject)]);
  return shown === also ? rows : [...rows, [['dim', `  +${also.length - shown.length} more`]]];
}

function editingRows(draft: GrantDraft, ask: Ask, width: number, style: UiStyle): readonly Row[] {
  const fault = writtenFault(draft, ask);
  return [
    ...wrappedRows(`rule: ${clean(draft.editing ?? '')}_`, 'bold', width, style),
    ...(fault === null ? [] : wrappedRows(clean(fault), 'yellow', width, style)),
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
function reachText(scope: Exclude<GrantDraft['scope'], 'waiting'>, ask: Ask, rules_file: string): string {
  const name = clean(ask.agent_name);
  const reach: Readonly<Record<typeof scope, string>> = {
    turn: `only ${name}, until its turn ends`,
    agent: `only ${name}, until it ends`,
    session: 'every agent of this tree, until the tree ends',
    always: `every agent in ${clean(ask.cwd)}, in later trees too; kept in ${clean(rules_file)}`,
  };
  return reach[scope];
}

/** Wraps a text into as many rows as it takes: no part of a rule is hidden. */
function wrappedRows(
  text: string,
  paint: 'bold' | 'dim' | 'yellow',
  width: number,
  style: UiStyle,
): readonly Row[] {
  return wrap(text, width, style).map((row) => [[paint, row]]);
}

/** Lines in a frame with a title; without the frame in accessible mode. */
function box(title: string, rows: readonly (readonly Part[])[], width: number, style: UiStyle): string[] {
  if (style.accessible) return [line(style, width, [title]), ...rows.map((row) => line(style, width, row))];
  if (width < 8)
    return [line(style, width, [['yellow', title]]), ...rows.map((row) => line(style, width, row))];
  const dash = sign(style, '─');
  const inner = width - 4;
  const shown = fit(title, width - 6, style);
  const rest = Math.max(0, width - 4 - columns([shown]));
  const edge = (text: string): Part => ['yellow', text];
  return [
    line(style, width, [
      edge(`${sign(style, '┌')} `),
      ['bold', shown],
      edge(` ${dash.repeat(rest)}${sign(style, '┐')}`),
    ]),
    ...rows.map((row) => {
      const space = ' '.repeat(Math.max(0, inner - columns(rowWithSigns(row, style))));
      const bar = edge(sign(style, '│'));
      return `${line(style, 2, [bar, ' '])}${line(style, inner, row)}${space}${line(style, 2, [' ', bar])}`;
    }),
    line(style, width, [edge(`${sign(style, '└')}${dash.repeat(width - 2)}${sign(style, '┘')}`)]),
  ];
}
