import type { IBufferCell, Terminal } from '@xterm/headless';

/** The sixteen colours of a terminal, and those of its text, background and frame. */
export interface Palette {
  readonly text: string;
  readonly ground: string;
  readonly frame: string;
  /** Black, red, green, yellow, blue, magenta, cyan, white, then the bright ones. */
  readonly colours: readonly string[];
}

export const DARK: Palette = {
  text: '#d1d7e0',
  ground: '#0d1117',
  frame: '#30363d',
  colours: [
    ...['#484f58', '#ff7b72', '#3fb950', '#d29922', '#58a6ff', '#bc8cff', '#39c5cf', '#b1bac4'],
    ...['#8b949e', '#ffa198', '#56d364', '#e3b341', '#79c0ff', '#d2a8ff', '#56d4dd', '#f0f6fc'],
  ],
};

export const LIGHT: Palette = {
  text: '#1f2328',
  ground: '#ffffff',
  frame: '#d1d9e0',
  colours: [
    ...['#24292f', '#cf222e', '#116329', '#7d4e00', '#0969da', '#8250df', '#1b7c83', '#6e7781'],
    ...['#57606a', '#a40e26', '#1a7f37', '#633c01', '#218bff', '#a475f9', '#3192aa', '#8c959f'],
  ],
};

const CELL = { width: 8.4, height: 19 };
const MARGIN = 16;
const FONT =
  "ui-monospace,SFMono-Regular,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace";

interface Run {
  readonly column: number;
  readonly columns: number;
  readonly text: string;
  readonly style: string;
}

/** A part of a picture: rows `from` to `to` (exclusive) of the screen. The spinner is frozen, so that the same screen gives the same file. */
export function terminalRows(terminal: Terminal, from: number, to: number, palette: Palette): string[] {
  return Array.from({ length: to - from }, (_, row) => {
    const y = MARGIN + row * CELL.height + CELL.height * 0.74;
    return runsOf(terminal, from + row, palette).map((run) => span(run, y));
  })
    .filter((row) => row.length > 0)
    .map((row) => `<g>${row.join('')}</g>`);
}

/** Picture of this many columns and rows, with these parts. */
export function terminalPicture(
  { columns, rows }: { readonly columns: number; readonly rows: number },
  palette: Palette,
  title: string,
  parts: readonly string[],
): string {
  const width = Math.round(columns * CELL.width + 2 * MARGIN);
  const height = rows * CELL.height + 2 * MARGIN;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="${FONT}" font-size="14" fill="${palette.text}">`,
    `<title>${title}</title>`,
    `<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8" fill="${palette.ground}" stroke="${palette.frame}"/>`,
    ...parts,
    '</svg>\n',
  ].join('\n');
}

function span({ column, columns, text, style }: Run, y: number): string {
  const x = (MARGIN + column * CELL.width).toFixed(1);
  // Keeps columns aligned in any font.
  const length = (columns * CELL.width).toFixed(1);
  return `<text x="${x}" y="${y.toFixed(1)}" textLength="${length}" lengthAdjust="spacingAndGlyphs" xml:space="preserve"${style}>${escaped(text)}</text>`;
}

/** Neighbouring cells of one style. Characters beyond ASCII, which may come from a fallback font, are positioned one by one. */
function runsOf(terminal: Terminal, row: number, palette: Palette): Run[] {
  const buffer = terminal.buffer.active;
  const line = buffer.getLine(buffer.baseY + row);
  const runs: Run[] = [];
  for (let column = 0; column < terminal.cols; column++) {
    const cell = line?.getCell(column);
    if (cell === undefined || cell.getWidth() === 0) continue;
    const text = (cell.getChars() || ' ').replace(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/, '⠹');
    const style = styleOf(cell, palette);
    const last = runs.at(-1);
    const plain = /^[ -~]$/;
    if (
      last !== undefined &&
      last.style === style &&
      last.column + last.columns === column &&
      (last.text.at(-1) === text || (plain.test(text) && plain.test(last.text.at(-1) ?? '')))
    )
      runs[runs.length - 1] = { ...last, text: last.text + text, columns: last.columns + cell.getWidth() };
    else runs.push({ column, columns: cell.getWidth(), text, style });
  }
  return runs.flatMap((run) => {
    if (run.text.trim() === '') return [];
    const blanks = run.text.length - run.text.trimStart().length;
    const text = run.text.trim();
    return [
      {
        ...run,
        text,
        column: run.column + blanks,
        columns: run.columns - blanks - (run.text.length - run.text.trimEnd().length),
      },
    ];
  });
}

function styleOf(cell: IBufferCell, palette: Palette): string {
  const colour = colourOf(cell, palette);
  return [
    colour === null ? '' : ` fill="${colour}"`,
    cell.isBold() ? ' font-weight="700"' : '',
    cell.isItalic() ? ' font-style="italic"' : '',
    cell.isUnderline() ? ' text-decoration="underline"' : '',
    cell.isDim() ? ' opacity="0.62"' : '',
  ].join('');
}

function colourOf(cell: IBufferCell, palette: Palette): string | null {
  if (cell.isInverse()) return palette.colours[8] ?? null;
  if (cell.isFgRGB()) return `#${cell.getFgColor().toString(16).padStart(6, '0')}`;
  if (cell.isFgPalette()) return palette.colours[cell.getFgColor()] ?? null;
  return null;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
