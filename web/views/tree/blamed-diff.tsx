import { cutMiddle, spellHiddenCode } from '../../../src/render/hidden-characters.ts';
import { useFold } from '../../parts/fold-button.tsx';
import type { ChangedFile } from './files.tsx';

const LINES_SHOWN = 40;
const LETTERS_SHOWN = 2_500;

interface DiffLine {
  readonly sign: string;
  readonly text: string;
  /** Number in the new text; null for a line that went, and between the parts. */
  readonly number: number | null;
}

/** A unified diff with the numbers of its lines, and at each run of new lines who wrote them. A long one is folded. */
export function BlamedDiff({ text, file }: { readonly text: string; readonly file?: ChangedFile }) {
  const lines = linesOf(text);
  const { until, button } = useFold(lines.length, LINES_SHOWN);
  const shown = lines.slice(0, until);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a diff that is wider than the page is scrolled with the keyboard */}
      <section class="blamed" tabIndex={0} aria-label="Difference">
        {shown.map(({ sign, text: line, number }, at) => {
          const writer = sign === '+' ? writerOf(file, number) : undefined;
          const before = shown[at - 1];
          const begins = before?.sign !== '+' || writerOf(file, before.number) !== writer;
          return (
            <div key={at} class={KINDS[sign]}>
              <span class="number dim">{number}</span>
              <code>{spellHiddenCode(cutMiddle(sign + line, LETTERS_SHOWN))}</code>
              <span class="by">
                {writer !== undefined && begins && (
                  <a href={`/agents/${writer.agent_id}?seq=${writer.seq}`} title={writer.prompt ?? undefined}>
                    {writer.agent} #{writer.seq}
                  </a>
                )}
              </span>
            </div>
          );
        })}
      </section>
      {button}
    </>
  );
}

const KINDS: Readonly<Record<string, string>> = { '+': 'added', '-': 'removed', '@': 'place', ' ': 'same' };

/** `+12 −3`: how many lines came and went, where that is known. */
export function Counts({ diffs }: { readonly diffs: readonly (string | null)[] }) {
  if (diffs.includes(null)) return null;
  const signs = diffs.flatMap((one) => (one === null ? [] : linesOf(one).map(({ sign }) => sign)));
  const count = (sign: string) => signs.filter((one) => one === sign).length;
  return (
    <span class="line-counts">
      <span class="plus">+{count('+')}</span> <span class="minus">−{count('-')}</span>
    </span>
  );
}

function writerOf(file: ChangedFile | undefined, number: number | null) {
  const run = file?.blame.find(({ from, to }) => number !== null && from <= number && number <= to);
  return run === undefined ? undefined : file?.changes[run.change];
}

/** The lines below the names of the files. */
function linesOf(diff: string): DiffLine[] {
  const lines: DiffLine[] = [];
  let next = 0;
  for (const line of diff.replace(/\n$/, '').split('\n')) {
    const [, begins] = /^@@ -\d+(?:,\d+)? \+(\d+)/.exec(line) ?? [];
    if (begins !== undefined) next = Number(begins);
    else if (next === 0 && !line.startsWith('@@')) continue;
    const sign = line[0] ?? ' ';
    if (sign === '@') lines.push({ sign, text: line.slice(1), number: null });
    else if (sign === '-' || sign === '\\') lines.push({ sign, text: line.slice(1), number: null });
    else {
      lines.push({ sign, text: line.slice(1), number: next });
      next += 1;
    }
  }
  return lines;
}
