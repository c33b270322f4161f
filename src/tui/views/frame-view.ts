// The views: pure functions from the state to lines of a given width.
import type { Agent } from '../../records/agent/agent.ts';
import { isTerminal } from '../../records/agent/state.ts';
import { counted } from '../../records/text/text.ts';
import { duration } from '../../render/amounts.ts';
import { clean } from '../../render/clean.ts';
import { sign, type UiStyle } from '../../render/style.ts';
import type { Action } from '../commands/command-table.ts';
import type { KeyRow } from '../keys/key-rows.ts';
import { type Shortcuts, STANDARD_SHORTCUTS } from '../keys/shortcuts.ts';
import type { Branch } from '../state/agents/family.ts';
import { childrenView, fanInView } from '../state/agents/fan-in-view.ts';
import { isConfirmation } from '../state/confirmation.ts';
import type { Entry } from '../state/entry.ts';
import { MODE_WORDS, modeInView, paneOf, type UiState } from '../state/ui-state.ts';
import type { Frame } from '../terminal/screen.ts';
import { columns, line, type Part, separator } from '../text/line.ts';
import { MarkdownTail } from '../text/markdown.ts';
import { agentsOverlay } from './agents-overlay.ts';
import { approvalBox } from './approvals/approval-box.ts';
import { confirmationLines } from './confirmation-lines.ts';
import { fanOutBlock } from './fan-out-block.ts';
import { queuedLines } from './input/queued-lines.ts';
import { type Layers, layout } from './layout.ts';
import { keysHelp } from './lists/keys-help.ts';
import { pickerOverlay } from './lists/picker-overlay.ts';
import type { MeterSettings } from './navigation/meters.ts';
import { navigationLine } from './navigation/navigation-line.ts';
import { spinnerLine } from './spinner-line.ts';
import { workingTasksLine } from './tasks-line.ts';
import { agentNames } from './transcript/agent-names.ts';
import { streamingView } from './transcript/streaming-view.ts';
import { workflowLines, workflowPanel } from './workflow-panel.ts';

/** Maximum rows of workflows at work. */
const RUNS_MAX = 3;

export interface FrameSettings {
  readonly width: number;
  readonly height: number;
  readonly style: UiStyle;
  /** The rendered editor. */
  readonly input: Layers['input'];
  /** The hint while the input is that of a search in the scrollback; null: it is not. */
  readonly find_hint?: string | null;
  /** Texts that are always visible (`SCRIPTED DEMO`, the mode of vim); null: none. */
  readonly flags: readonly (string | null)[];
  readonly meters?: MeterSettings;
  readonly shortcuts?: Shortcuts;
  /** Whether the input is not empty. */
  readonly drafting?: boolean;
  readonly rules_file?: string;
  readonly keys: readonly KeyRow[];
  /** The newest lines of an agent's scrollback. */
  readonly tail?: (agent_id: string, width: number, height: number) => readonly string[];
  /** The last lines of a conversation. */
  readonly preview?: (entries: readonly Entry[], width: number, height: number) => readonly string[];
  /** Caches the rendered lines of the streamed answer. */
  readonly text?: MarkdownTail;
  /** Number of characters of the streamed answer in view that are in the scrollback. */
  readonly printed?: number;
}

/** Everything below the scrollback; a list replaces all of it. */
export function frameView(state: UiState, settings: FrameSettings): Frame {
  const { width, height, style, shortcuts = STANDARD_SHORTCUTS, find_hint = null } = settings;
  const { overlay, view } = state;
  if (overlay?.type === 'agents')
    return agentsOverlay(state, overlay, width, height, style, (id, wide, rows) =>
      peekLines(state, id, wide, rows, settings),
    );
  if (overlay?.type === 'run') return workflowPanel(state, overlay, width, height, style);
  if (overlay?.type === 'picker') {
    const list = pickerOverlay(overlay, width, height, style, settings.preview ?? (() => []));
    return announced(state, list, width, style);
  }
  if (overlay?.type === 'keys') {
    const help = keysHelp(settings.keys, overlay, shortcuts.leader, width, height, style);
    return announced(state, help, width, style);
  }
  const agent = view === null ? undefined : state.agents.get(view);
  const fan_in = view === null ? null : fanInView(state, view);
  const names = agentNames(state);
  // A search needs the room; what waits is counted in the navigation line.
  const searches = find_hint !== null && overlay === null;
  const question = searches ? null : questionOf(state, settings, shortcuts);
  return layout(
    {
      live: (rows) =>
        view === null
          ? []
          : streamingView(paneOf(state, view), {
              width,
              height: rows,
              style,
              names,
              hidden_calls: fan_in?.call_ids ?? [],
              text: settings.text ?? new MarkdownTail(),
              ...(settings.printed === undefined ? {} : { printed: settings.printed }),
            }),
      status: fan_in === null || searches ? null : (rows) => fanOutBlock(state, fan_in, width, rows, style),
      children: (rows) => {
        if (searches) return [];
        const runs = workflowLines(state, width, Math.min(rows, RUNS_MAX), style);
        const most = rows - runs.length;
        // Workflows at work have a row of their own, unless there is no room for it.
        const has_row = ({ agent, ask }: Branch) =>
          runs.length > 0 && agent.config.workflow !== undefined && ask === null;
        const all = view === null || fan_in !== null ? null : childrenView(state, view, has_row);
        const children = all === null ? [] : fanOutBlock(state, all, width, most, style);
        const tasks = children.length < most ? workingTasksLine(state, width, style) : null;
        return [...runs, ...children, ...(tasks === null ? [] : [tasks])];
      },
      spinner: spinnerLine(state, width, style, shortcuts),
      question,
      question_rows: question?.(height).length ?? 0,
      queued: (rows) => {
        const command = commandLines(state, width, Math.floor(rows / 2), style);
        return [...command, ...queuedLines(state, width, rows - command.length, style, settings.drafting)];
      },
      bar: captureBar(state, width, style),
      navigation: navigationLine(state, width, style, flagOf(state, settings.flags), settings.meters),
      input:
        find_hint === null && agent !== undefined && isTerminal(agent.state.type) ? null : settings.input,
      hint: find_hint ?? hintLine(state, width, style, shortcuts),
    },
    height,
  );
}

/** A list that shows no questions, with the one that waits in the place of its last line. */
function announced({ asks }: UiState, list: Frame, width: number, style: UiStyle): Frame {
  const [ask] = asks;
  if (ask === undefined || list.lines.length < 2) return list;
  const who = `${asks.length === 1 ? '' : `${asks.length} ask, first `}${clean(ask.agent_name)}`;
  const what = `${asks.length === 1 ? ' asks' : ''}: ${clean(ask.tool)} ${clean(ask.subject)}`;
  const last = line(style, width, [' Esc', separator(style), ['yellow', `! ${who}${what}`]]);
  return { ...list, lines: [...list.lines.slice(0, -1), last] };
}

/** What is always visible, with the mode unless it is `ask`, which only the hints name. */
function flagOf(state: UiState, always: FrameSettings['flags']): string | null {
  const mode = modeInView(state);
  const flags = [...always, mode === 'ask' ? null : MODE_WORDS[mode].toUpperCase()].filter(
    (flag) => flag !== null,
  );
  return flags.length === 0 ? null : flags.join('  ');
}

/** An agent of the list: what it asks, above the newest lines of its scrollback. */
function peekLines(
  state: UiState,
  agent_id: string,
  width: number,
  height: number,
  { style, tail, shortcuts = STANDARD_SHORTCUTS }: FrameSettings,
): readonly string[] {
  const { question } = state;
  const keys = { shortcuts, drafting: false, listed: true };
  const asked = question !== null && state.asks[0]?.agent_id === agent_id;
  const box = asked ? approvalBox(state, question, width, height, style, keys) : [];
  return [...box, ...(tail?.(agent_id, width, height - box.length) ?? [])];
}

function questionOf(
  state: UiState,
  { width, style, drafting = false, rules_file }: FrameSettings,
  shortcuts: Shortcuts,
): Layers['question'] {
  const { overlay, question } = state;
  if (overlay !== null && isConfirmation(overlay))
    return (rows) => confirmationLines(state, overlay, width, rows, style);
  if (question === null) return null;
  return (rows) =>
    approvalBox(state, question, width, rows, style, {
      shortcuts,
      drafting,
      ...(rules_file === undefined ? {} : { rules_file }),
    });
}

/** Hints on what can be done next, most important first. */
export function hintLine(state: UiState, width: number, style: UiStyle, keys = STANDARD_SHORTCUTS): string {
  const hints = hintsFor(state, keys).filter((hint) => hint !== null);
  return line(style, width, [['dim', ` ${hints.join(separator(style))}`]]);
}

function hintsFor(state: UiState, keys: Shortcuts): readonly (string | null)[] {
  const { leader } = keys;
  if (state.leaving !== null) return [named(keys.whole('clear'), 'again leaves')];
  if (state.escaped !== null) return ['Esc again lists what was said, to go back'];
  const behind = (action: Action, word: string) => named(keys.short(action), word);
  if (state.leader)
    return [
      ...(state.question === null ? [] : [behind('allow', 'once'), behind('deny', 'deny')]),
      'arrows move',
      '0-9 slot',
      behind('agents', 'agents'),
      behind('trees', 'trees'),
      behind('approvals', 'approvals'),
      behind('capture', 'capture'),
      behind('fork', 'fork'),
      behind('kill', 'kill'),
      behind('reap', 'reap'),
      behind('keys', 'keys'),
      behind('quit', 'quit'),
      'Esc back',
    ];
  const agent = state.view === null ? undefined : state.agents.get(state.view);
  if (agent !== undefined && isTerminal(agent.state.type)) {
    const others = [...state.agents.values()].filter((one) => one.id !== state.root_id);
    const is_root = agent.parent_id === null;
    return [
      'ended: no input',
      is_root ? named(keys.whole('new'), 'begins anew') : null,
      is_root ? named(keys.whole('quit'), 'quits') : null,
      others.length > 0 ? `${leader} arrows move` : null,
      is_root ? null : '/ searches',
      others.some((one) => isTerminal(one.state.type))
        ? named(keys.whole('reap'), 'removes ended agents')
        : null,
    ];
  }
  const agents = named(keys.whole('agents'), 'agents');
  if (agent !== undefined && paneOf(state, agent.id).capture !== null)
    return ['/fork starts a child with this', '/cancel ends it', '// writes a /', agents];
  const { length } = state.asks;
  const asks = length > 0 ? [named(keys.whole('approvals'), `answers ${length}`)] : [];
  // Kept short: when a window gets narrower and lower at once, it is unknown whether a wide row below the input was dropped or wrapped.
  const mode = MODE_WORDS[modeInView(state)];
  const mind = agent === undefined ? null : mindInView(agent.config);
  return [...asks, agents, named(keys.whole('keys'), 'keys'), '/ commands', mode, mind];
}

/** The model of the agent in view without its provider, and how much it thinks if it does. */
function mindInView({ model, thinking }: Agent['config']): string | null {
  if (/^scripted[:/]/.test(model)) return thinking === 'off' ? null : thinking;
  const name = clean(model.slice(model.lastIndexOf('/') + 1));
  return thinking === 'off' ? name : `${name} ${thinking}`;
}

function named(key: string | null, word: string): string | null {
  return key === null ? null : `${key} ${word}`;
}

/** Says that a capture is open and that nothing of it is sent; null without one. */
export function captureBar(state: UiState, width: number, style: UiStyle): string | null {
  const agent = state.view === null ? undefined : state.agents.get(state.view);
  if (agent === undefined) return null;
  const { capture } = paneOf(state, agent.id);
  if (capture === null) return null;
  const dot = sign(style, '·');
  if (style.accessible)
    return line(style, width, [
      `Capture, ${counted(capture.length, 'line')}, not sent to ${clean(agent.name)}. /fork or /cancel; // for /.`,
    ]);
  const bar = sign(style, '━');
  const parts: Part[] = [
    [
      'magenta',
      `${bar.repeat(2)} CAPTURE ${dot} ${counted(capture.length, 'line')} ${dot} not sent to ${clean(agent.name)} ${bar.repeat(2)} `,
    ],
    `/fork ${dot} /cancel ${dot} // for /`,
  ];
  const rest = width - columns(parts) - 1;
  return line(style, width, rest > 0 ? [...parts, ['magenta', ` ${bar.repeat(rest)}`]] : parts);
}

const ROWS_MAX = 6;

/** The command that the person runs, and the end of its output so far. */
function commandLines(
  { shell_command, now }: UiState,
  width: number,
  rows: number,
  style: UiStyle,
): string[] {
  if (shell_command === null || rows < 1) return [];
  const { command, output, since } = shell_command;
  const clock = style.accessible ? '' : ` ${duration(now - since)}`;
  const head = line(style, width, [
    ['magenta', '! '],
    clean(command),
    ['dim', `${clock} ${sign(style, '·')} Esc stops it`],
  ]);
  const newest = output
    .trimEnd()
    .split('\n')
    .slice(-(Math.min(rows, ROWS_MAX) - 1));
  const told = output.trim() === '' || rows < 2 ? [] : newest;
  return [head, ...told.map((row) => line(style, width, [['dim', `  ${clean(row)}`]]))];
}
