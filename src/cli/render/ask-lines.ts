import type { Ask } from '../../core/ask.ts';
import { duration } from '../../render/amounts.ts';
import { clean, cleanLines } from '../../render/clean.ts';
import { paint, type Style, sign } from '../../render/style.ts';

/** What is longer is cut in the middle, and said to be: nobody shall allow what they took for the whole. */
const LINES_MAX = 40;
const WHOLE = 'whole: coppice approvals list --json';

export interface AskLook {
  /** As short as it stays distinct. */
  readonly id: string;
  /** Names from the root down to the one that asks. */
  readonly lineage: readonly string[];
  readonly now: number;
  readonly style: Style;
}

/** One question with everything that the call would be given: that is what a person allows. */
export function askLines(ask: Ask, { id, lineage, now, style }: AskLook): string[] {
  const who = lineage.map(clean).join(` ${style.unicode ? '›' : '>'} `);
  const since = duration(now - ask.asked_at);
  return [
    `${paint(style, 'bold', id)}  ${who} wants ${paint(style, 'bold', ask.tool)} ${sign(style, '·')} waits ${since}`,
    ...argumentsOf(ask).flatMap(([name, value]) => argument(name, value)),
    paint(style, 'dim', `    in ${clean(ask.cwd)} ${sign(style, '·')} rule: ${clean(ask.rule)}`),
  ];
}

/** As the model wrote them. */
function argumentsOf({ input }: Ask): (readonly [string, string])[] {
  const value: unknown = JSON.parse(input);
  if (typeof value !== 'object' || value === null) return [['input', input]];
  return Object.entries(value).map(([name, one]) => [
    name,
    typeof one === 'string' ? one : JSON.stringify(one, null, 2),
  ]);
}

function argument(name: string, value: string): string[] {
  const shown = cleanLines(value);
  const hidden =
    shown === value.replaceAll('\r\n', '\n') ? [] : [`    (it holds hidden characters; ${WHOLE})`];
  const lines = shown.split('\n');
  if (lines.length === 1) return [`    ${clean(name)}: ${shown}`, ...hidden];
  const half = LINES_MAX / 2;
  const kept =
    lines.length <= LINES_MAX
      ? lines
      : [
          ...lines.slice(0, half),
          `(${lines.length - LINES_MAX} more lines; ${WHOLE})`,
          ...lines.slice(-half),
        ];
  return [`    ${clean(name)}:`, ...kept.map((line) => `      ${line}`.trimEnd()), ...hidden];
}
