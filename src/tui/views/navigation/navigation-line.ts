import type { Agent } from '../../../records/agent/agent.ts';
import { addUsage, type Usage } from '../../../records/agent/usage.ts';
import { pauseOf, standsStill } from '../../../records/conversation/parked.ts';
import { statusWord } from '../../../render/agent-status.ts';
import { clean } from '../../../render/clean.ts';
import { statePaint, stateSign } from '../../../render/state-mark.ts';
import { fit, type Paint, sign, type UiStyle } from '../../../render/style.ts';
import { type Family, family } from '../../state/agents/family.ts';
import { slotOf } from '../../state/agents/slots.ts';
import { paneOf, type UiState } from '../../state/ui-state.ts';
import { columns, line, type Part, separator } from '../../text/line.ts';
import { ALL_METERS, type MeterSettings, meters } from './meters.ts';

/** The separator above the input: the agent in view, its neighbours, and badges for the tree. `banner` is shown at any width. */
export function navigationLine(
  state: UiState,
  width: number,
  style: UiStyle,
  banner: string | null = null,
  shown: MeterSettings = ALL_METERS,
): string {
  if (style.accessible) return spoken(state, width, style, banner, shown);
  const dash = sign(style, '─');
  const fill = (length: number): Part => ['dim', dash.repeat(Math.max(0, length))];
  const flag: Part[] = banner === null ? [] : [['yellow', ` ${banner} `], fill(2)];
  const counted = counts(state);
  for (const detail of DETAILS) {
    const middle = agentsPart(state, detail, style);
    const badges = detail.badges ? badgesPart(state, counted, detail.badges, shown, style) : [];
    const edge = detail.edge;
    const used =
      columns([...flag, ...middle, ...badges]) +
      edge * (badges.length > 0 ? 2 : 1) +
      (middle.length > 0 ? 2 : 0) +
      (badges.length > 0 ? 2 : 0);
    if (used > width && detail !== DETAILS.at(-1)) continue;
    const tail: Part[] = badges.length > 0 ? [' ', ...badges, ' ', fill(edge)] : [];
    const spaced: Part[] = middle.length > 0 ? [' ', ...middle, ' '] : [];
    return line(style, width, [fill(edge), ...flag, ...spaced, fill(width - used), ...tail]);
  }
  return '';
}

interface Detail {
  readonly edge: number;
  /** Maximum length of the neighbours' names; 0: only arrows and slots; null: no neighbours. */
  readonly around: number | null;
  readonly name: number;
  readonly badges: 'words' | 'model' | 'all' | 'some' | 'cost' | 'counts' | null;
}

/** From most to least detail. */
const DETAILS: readonly Detail[] = [
  { edge: 4, around: 32, name: 32, badges: 'words' },
  { edge: 4, around: 32, name: 32, badges: 'model' },
  { edge: 4, around: 14, name: 24, badges: 'model' },
  { edge: 4, around: 32, name: 32, badges: 'all' },
  { edge: 4, around: 14, name: 24, badges: 'all' },
  { edge: 4, around: 14, name: 24, badges: 'some' },
  { edge: 2, around: 8, name: 20, badges: 'cost' },
  { edge: 1, around: 0, name: 16, badges: 'counts' },
  { edge: 1, around: null, name: 12, badges: 'counts' },
  { edge: 1, around: null, name: 12, badges: null },
  { edge: 0, around: null, name: 12, badges: null },
];

const ARROWS = [
  ['↑', 'parent'],
  ['←', 'previous'],
] as const;
const ARROWS_BEHIND = [
  ['→', 'next'],
  ['↓', 'child'],
] as const;

function agentsPart(state: UiState, detail: Detail, style: UiStyle): Part[] {
  const self = state.view === null ? undefined : state.agents.get(state.view);
  if (self === undefined) return [];
  const kin = family(state, self.id);
  const arrow = ([glyph, to]: readonly ['↑' | '←' | '→' | '↓', keyof Family]): Part[] => {
    const other = kin[to];
    return other === null
      ? []
      : [`${sign(style, glyph)}${reference(state, other, detail.around ?? 0, style)}`];
  };
  const slot = slotOf(state, self.id);
  const label = `${slot === null ? '' : `${slot} `}${fit(clean(self.name), detail.name, style)}`;
  const capture = paneOf(state, self.id).capture === null ? '' : ` ${sign(style, '✎')}`;
  const here: Part = ['bold', `[${label}${capture}]`];
  if (detail.around === null) return [here];
  return spaced([...ARROWS.flatMap(arrow), here, ...ARROWS_BEHIND.flatMap(arrow)]);
}

function spaced(parts: readonly Part[]): Part[] {
  return parts.flatMap((part, index) => (index === 0 ? [part] : [' ', part]));
}

/** `1 file-reader`, marked when it has unseen output or an open capture. */
function reference(state: UiState, agent: Agent, length: number, style: UiStyle): string {
  const slot = slotOf(state, agent.id);
  const name = length === 0 ? '' : fit(clean(agent.name), length, style);
  const label = [slot === null ? '' : String(slot), name].filter((text) => text !== '').join(' ');
  const { unseen, capture } = paneOf(state, agent.id);
  const marks = `${unseen > 0 ? sign(style, '•') : ''}${capture === null ? '' : sign(style, '✎')}`;
  return `${label === '' ? fit(clean(agent.name), 8, style) : label}${marks}`;
}

interface Counts {
  readonly working: number;
  /** Agents that wait for their provider. */
  readonly paused: number;
  readonly unseen: number;
  readonly asks: number;
  readonly total: Usage;
}

function counts(state: UiState): Counts {
  let [working, paused, unseen, total] = [0, 0, 0, state.past_usage];
  for (const agent of state.agents.values()) {
    total = addUsage(total, agent.usage);
    if (pauseOf(agent.state) !== null) paused += 1;
    else if (statusWord(agent) === 'running' && !standsStill(agent.state)) working += 1;
    if (paneOf(state, agent.id).unseen > 0) unseen += 1;
  }
  return { working, paused, unseen, asks: state.asks.length, total };
}

/** `2◐ 3◔ 1• 1! · context 34% · 13k $0.04`, with words where there is room: agents at work, agents that wait for their provider, agents with unseen output, open approvals, meters. */
function badgesPart(
  state: UiState,
  { working, paused, unseen, asks, total }: Counts,
  detail: NonNullable<Detail['badges']>,
  shown: MeterSettings,
  style: UiStyle,
): Part[] {
  const badges: readonly (readonly [number, string, Paint, string])[] = [
    [working, stateSign('running', style), statePaint('running'), 'at work'],
    [paused, stateSign('waiting', style), statePaint('waiting'), 'without provider'],
    [unseen, sign(style, '•'), 'green', 'new'],
    [asks, '!', 'yellow', asks === 1 ? 'asks' : 'ask'],
  ];
  const parts = badges.flatMap(([number, mark, paint, word]): Part[] =>
    number === 0 ? [] : [[paint, `${number}${mark}${detail === 'words' ? ` ${word}` : ''}`]],
  );
  const between: Part = ['dim', separator(style)];
  const told =
    detail === 'words' ? parts.flatMap((part, at) => (at === 0 ? [part] : [between, part])) : spaced(parts);
  const metered = detail === 'counts' ? [] : meters(state, total, shown, detail, style);
  return [
    ...told,
    ...metered.flatMap((text, at) => (at === 0 && told.length === 0 ? [text] : [between, text])),
  ];
}

function spoken(
  state: UiState,
  width: number,
  style: UiStyle,
  banner: string | null,
  shown: MeterSettings,
): string {
  const self = state.view === null ? undefined : state.agents.get(state.view);
  const { working, paused, unseen, asks, total } = counts(state);
  const slot = self === undefined ? null : slotOf(state, self.id);
  const told = [
    banner,
    self === undefined ? null : `in view: ${slot === null ? '' : `${slot} `}${clean(self.name)}`,
    self !== undefined && paneOf(state, self.id).capture !== null ? 'capture is on' : null,
    `${working} running`,
    paused > 0 ? `${paused} waiting for their provider` : null,
    unseen > 0 ? `${unseen} with unseen output` : null,
    asks > 0 ? `${asks} waiting for approval` : null,
    ...meters(state, total, shown, 'model', style),
  ];
  return line(style, width, [told.filter((text) => text !== null).join(', ')]);
}
