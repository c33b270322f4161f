// The views: pure functions from the state to lines of a given width.
import { isTerminal } from '../../records/agent/state.ts';
import type { UiStyle } from '../../render/style.ts';
import type { KeyRow } from '../keys/key-rows.ts';
import { type Shortcuts, STANDARD_SHORTCUTS } from '../keys/shortcuts.ts';
import { childrenView } from '../state/agents/family.ts';
import { fanInView } from '../state/agents/fan-in-view.ts';
import { isConfirmation } from '../state/confirmation.ts';
import { MODE_WORDS, modeInView } from '../state/mode-in-view.ts';
import { paneOf, type UiState } from '../state/ui-state.ts';
import type { Frame } from '../terminal/screen.ts';
import { line } from '../text/line.ts';
import { MarkdownTail } from '../text/markdown.ts';
import { agentsOverlay } from './agents-overlay.ts';
import { approvalBox } from './approvals/approval-box.ts';
import { CHILDREN_MAX, childrenLayer } from './children-layer.ts';
import { confirmationLines } from './confirmation-lines.ts';
import { hintLine } from './hint-line.ts';
import { captureBar } from './input/capture-bar.ts';
import { commandLines } from './input/command-lines.ts';
import { queuedLines } from './input/queued-lines.ts';
import { type Layers, layout } from './layout.ts';
import { keysHelp } from './lists/keys-help.ts';
import { pickerOverlay } from './lists/picker-overlay.ts';
import type { MeterSettings } from './navigation/meters.ts';
import { navigationLine } from './navigation/navigation-line.ts';
import { spinnerLine } from './spinner-line.ts';
import { statusLayer } from './status-layer.ts';
import { workingTasksLine } from './tasks-line.ts';
import { agentNames } from './transcript/agent-names.ts';
import { streamingView } from './transcript/streaming-view.ts';

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
        const most = Math.min(rows, CHILDREN_MAX);
        const children =
          view === null || fan_in !== null
            ? []
            : childrenLayer(state, childrenView(state, view), width, most, style);
        const tasks = children.length < most ? workingTasksLine(state, width, style) : null;
        return tasks === null ? children : [...children, tasks];
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
