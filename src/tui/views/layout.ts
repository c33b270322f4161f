import type { Frame } from '../terminal/screen.ts';

/** The layers at the bottom of the terminal, top to bottom (docs/tui.md). A missing layer is null or empty. */
export interface Layers {
  /** Unfinished calls and the streamed answer: gets the rows that the others leave. */
  readonly live: (height: number) => readonly string[];
  /** The agents that are waited for. */
  readonly status: ((height: number) => readonly string[]) | null;
  readonly spinner: string | null;
  /** Rows of the children at work, below the spinner. */
  readonly children?: ((height: number) => readonly string[]) | null;
  /** An approval, or a confirmation. */
  readonly question: ((height: number) => readonly string[]) | null;
  readonly question_rows: number;
  /** Messages that wait for the agent's turn. */
  readonly queued?: (height: number) => readonly string[];
  readonly bar: string | null;
  readonly navigation: string | null;
  /** Null: an agent that has ended takes no input. */
  readonly input: { readonly lines: readonly string[]; readonly cursor: Frame['cursor'] } | null;
  readonly hint: string | null;
}

/**
 * Stacks the layers into `height` rows. When they do not fit, rows are dropped in this order: the live part, the hint, children, status rows, the
 * spinner, then the lines around the input; the input always keeps a row.
 */
export function layout(layers: Layers, height: number): Frame {
  let room = Math.max(1, height);
  const take = (rows: number): number => {
    const taken = Math.max(0, Math.min(rows, room));
    room -= taken;
    return taken;
  };
  const { input } = layers;
  const others = layers.question === null ? 0 : Math.min(layers.question_rows, Math.floor(height / 2));
  const wanted = input?.lines.length ?? 0;
  // A long input scrolls in part of the screen, which is the larger the less room a question needs.
  const most = Math.max(1, Math.min(room - others, Math.max(3, Math.floor(height / 2))));
  const input_rows = take(Math.min(wanted, most));
  const question = layers.question?.(take(layers.question_rows)) ?? [];
  const navigation = lineIfItFits(layers.navigation, take);
  const bar = lineIfItFits(layers.bar, take);
  const queued = layers.queued?.(room) ?? [];
  take(queued.length);
  const spinner = lineIfItFits(layers.spinner, take);
  const third = Math.max(2, Math.floor(height / 3));
  const status = layers.status?.(Math.min(room, third)) ?? [];
  take(status.length);
  const children = layers.children?.(Math.min(room, third - status.length)) ?? [];
  take(children.length);
  const hint = lineIfItFits(layers.hint, take);
  const live = room > 0 ? layers.live(room).slice(-room) : [];
  const typed = input === null ? { lines: [], cursor: null } : inputWindow(input, input_rows);
  const above = [...live, ...status, ...spinner, ...children, ...queued, ...question, ...bar, ...navigation];
  const cursor =
    typed.cursor === null ? null : { row: above.length + typed.cursor.row, column: typed.cursor.column };
  // Of more lines than there is room for, only the newest are shown.
  const growing = live.length < room ? { rows: live.length, text: '' } : null;
  return { lines: [...above, ...typed.lines, ...hint], cursor, growing };
}

function lineIfItFits(text: string | null, take: (rows: number) => number): readonly string[] {
  return text !== null && take(1) === 1 ? [text] : [];
}

/** The part of the input around the cursor. */
function inputWindow(
  { lines, cursor }: NonNullable<Layers['input']>,
  rows: number,
): { readonly lines: readonly string[]; readonly cursor: Frame['cursor'] } {
  if (lines.length <= rows) return { lines, cursor };
  const at = cursor?.row ?? lines.length - 1;
  const top = Math.max(0, Math.min(lines.length - rows, at - rows + 1));
  const row = at - top;
  return {
    lines: lines.slice(top, top + rows),
    cursor: cursor === null ? null : { row, column: cursor.column },
  };
}
