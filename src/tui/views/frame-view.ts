// The views: pure functions from the state to lines of a given width.
import { isTerminal } from '../../records/agent/state.ts';
import { count, duration } from '../../render/amounts.ts';
import { clean } from '../../render/clean.ts';
import { columnsOf, fit, pad, sign, type UiStyle } from '../../render/style.ts';
import type { Action } from '../commands/command-table.ts';
import type { KeyRow } from '../keys/key-rows.ts';
import { type Shortcuts, STANDARD_SHORTCUTS } from '../keys/shortcuts.ts';
import { type ChildrenView, childrenView } from '../state/agents/family.ts';
import { type FanInRow, type FanInView, fanInView } from '../state/agents/fan-in-view.ts';
import { isConfirmation } from '../state/confirmation.ts';
import { MODE_WORDS, modeInView, paneOf, type UiState } from '../state/ui-state.ts';
import type { Frame } from '../terminal/screen.ts';
import { columns, line, type Part, rule, separator } from '../text/line.ts';
import { MarkdownTail } from '../text/markdown.ts';
import { agentsOverlay } from './agents-overlay.ts';
import { approvalBox } from './approvals/approval-box.ts';
import { CHILDREN_MAX, childrenLayer } from './children-layer.ts';
import { confirmationLines } from './confirmation-lines.ts';
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
import { WAIT_STATUS_WIDTH, waitStatus } from './transcript/wait-rows.ts';
import { workflowLines, workflowPanel } from './workflow-panel.ts';

/** Maximum rows of workflows at work. */
const RUNS_MAX = 3;

export interface FrameSettings {
  readonly width: number;
  readonly height: number;
  readonly style: UiStyle;
  /** The rendered editor. */
  readonly input: Layers['input'];
  /** Text that is always visible (`SCRIPTED DEMO`); null: none. */
  readonly banner: string | null;
  readonly meters?: MeterSettings;
  /** The line of the status script. */
  readonly footer?: string | null;
  readonly shortcuts?: Shortcuts;
  /** Whether the input is not empty. */
  readonly drafting?: boolean;
  /** The file with the rules that are granted for good. */
  readonly rules_file?: string;
  readonly keys: readonly KeyRow[];
  /** Caches the rendered lines of the streamed answer. */
  readonly text?: MarkdownTail;
  /** Number of characters of the streamed answer in view that are in the scrollback. */
  readonly printed?: number;
}

/** Everything below the scrollback; a list replaces all of it. */
export function frameView(state: UiState, settings: FrameSettings): Frame {
  const { width, height, style, shortcuts = STANDARD_SHORTCUTS } = settings;
  const { overlay, view } = state;
  if (overlay?.type === 'agents') return agentsOverlay(state, overlay, width, height, style);
  if (overlay?.type === 'run') return workflowPanel(state, overlay, width, height, style);
  if (overlay?.type === 'picker') return pickerOverlay(overlay, width, height, style);
  if (overlay?.type === 'keys')
    return { lines: keysHelp(settings.keys, shortcuts.leader, width, height, style), cursor: null };
  const agent = view === null ? undefined : state.agents.get(view);
  const fan_in = view === null ? null : fanInView(state, view);
  const names = agentNames(state);
  const question = questionOf(state, settings, shortcuts);
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
      status: fan_in === null ? null : (rows) => statusLayer(fan_in, width, rows, style),
      status_rows: fan_in === null ? 0 : fan_in.rows.length + (style.accessible ? 1 : 2),
      children: (rows) => {
        const runs = workflowLines(state, width, Math.min(rows, RUNS_MAX), style);
        const most = Math.min(rows, CHILDREN_MAX) - runs.length;
        const children =
          view === null || fan_in !== null
            ? []
            : childrenLayer(state, withoutRuns(childrenView(state, view), runs.length), width, most, style);
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
      navigation: navigationLine(state, width, style, flagOf(state, settings.banner), settings.meters),
      input: agent !== undefined && isTerminal(agent.state.type) ? null : settings.input,
      hint: hintLine(state, width, style, shortcuts),
      footer: settings.footer == null ? null : line(style, width, [['dim', ` ${settings.footer}`]]),
    },
    height,
  );
}

/** Workflows at work have a row of their own, unless there is no room for it. */
function withoutRuns({ rows, idle }: ChildrenView, shown: number): ChildrenView {
  if (shown === 0) return { rows, idle };
  const kept = rows.filter(({ agent, ask }) => agent.config.workflow === undefined || ask !== null);
  return { rows: kept, idle };
}

/** Text that is always visible: the banner, and the mode unless it is `ask`, which only the hints name. */
function flagOf(state: UiState, banner: string | null): string | null {
  const mode = modeInView(state);
  const flags = [banner, mode === 'ask' ? null : MODE_WORDS[mode].toUpperCase()].filter(
    (flag) => flag !== null,
  );
  return flags.length === 0 ? null : flags.join('  ');
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
  if (agent !== undefined && isTerminal(agent.state.type))
    return [
      'ended: no input',
      agent.parent_id === null ? named(keys.whole('quit'), 'quits') : null,
      `${leader} arrows move`,
      named(keys.whole('reap'), 'removes ended agents'),
    ];
  const agents = named(keys.whole('agents'), 'agents');
  if (agent !== undefined && paneOf(state, agent.id).capture !== null)
    return ['/fork starts a child with this', '/cancel ends it', '// writes a /', agents];
  const { length } = state.asks;
  const asks = length > 0 ? [named(keys.whole('approvals'), `answers ${length}`)] : [];
  // Kept short: when a window gets narrower and lower at once, it is unknown whether a wide row below the input was dropped or wrapped.
  const mode = MODE_WORDS[modeInView(state)];
  return [...asks, agents, named(keys.whole('keys'), 'keys'), '/ commands', mode];
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
  const count = capture.length === 1 ? '1 line' : `${capture.length} lines`;
  const dot = sign(style, '·');
  if (style.accessible)
    return line(style, width, [
      `Capture, ${count}, not sent to ${clean(agent.name)}. /fork or /cancel; // for /.`,
    ]);
  const bar = sign(style, '━');
  const parts: Part[] = [
    [
      'magenta',
      `${bar.repeat(2)} CAPTURE ${dot} ${count} ${dot} not sent to ${clean(agent.name)} ${bar.repeat(2)} `,
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

const INDENT = 2;
const NAME_MIN = 8;

/** A head, a row per agent, a rule below. When they do not fit, the last row says how many more there are; empty below two rows. */
export function statusLayer(view: FanInView, width: number, height: number, style: UiStyle): string[] {
  const head = style.accessible
    ? line(style, width, [`Waiting: ${view.head}`])
    : line(style, width, [['cyan', sign(style, '●')], ` ${view.head}`]);
  if (height < 2) return [];
  const ruled = height >= Math.min(4, view.rows.length + 2) ? rule(style, width) : [];
  const room = height - 1 - ruled.length;
  const shown = view.rows.length <= room ? view.rows : view.rows.slice(0, room - 1);
  const columns = columnsFor(shown, width);
  const rows = shown.map((row) => rowLine(row, columns, width, style));
  const hidden = view.rows.slice(shown.length);
  if (hidden.length > 0) {
    const running = hidden.filter((row) => row.status === 'running').length;
    const more = `  +${hidden.length} more${running > 0 ? `, ${running} running` : ''}`;
    rows.push(line(style, width, [['dim', more]]));
  }
  return [head, ...rows, ...ruled];
}

interface Columns {
  readonly name: number;
  readonly gap: number;
  readonly calls: number;
  readonly tokens: number;
  /** 0: status alone; 1: with calls; 2: with tokens. */
  readonly level: 0 | 1 | 2;
}

function columnsFor(rows: readonly FanInRow[], width: number): Columns {
  const calls = Math.max(2, ...rows.map((row) => String(row.calls).length));
  const tokens = Math.max(2, ...rows.map((row) => count(row.tokens).length));
  const wanted = Math.max(NAME_MIN, ...rows.map((row) => columnsOf(row.name)));
  const told = [0, 3 + calls + ' calls'.length, 3 + calls + ' calls'.length + 2 + tokens + ' tokens'.length];
  const fixed = INDENT + WAIT_STATUS_WIDTH;
  const level =
    ([2, 1, 0] as const).find((one) => fixed + (told[one] ?? 0) + 2 + Math.min(wanted, 16) <= width) ?? 0;
  const room = Math.max(1, width - fixed - (told[level] ?? 0));
  const gap = wanted + 4 <= room ? 4 : 2;
  return { name: Math.max(1, Math.min(wanted, room - gap)), gap, calls, tokens, level };
}

function rowLine(row: FanInRow, columns: Columns, width: number, style: UiStyle): string {
  if (style.accessible) {
    const text = `${row.name}: ${row.status}, ${row.calls} ${row.calls === 1 ? 'call' : 'calls'}, ${count(row.tokens)} tokens`;
    return line(style, width, [text]);
  }
  const name = pad(fit(row.name, columns.name, style), columns.name + columns.gap);
  const parts: Part[] = [' '.repeat(INDENT), name, waitStatus(row.status, style)];
  if (columns.level > 0)
    parts.push(`   ${String(row.calls).padStart(columns.calls)} ${row.calls === 1 ? 'call ' : 'calls'}`);
  if (columns.level > 1) parts.push(`  ${count(row.tokens).padStart(columns.tokens)} tokens`);
  return line(style, width, parts).trimEnd();
}
