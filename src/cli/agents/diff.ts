import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import { counted } from '../../records/text/text.ts';
import { count, duration } from '../../render/amounts.ts';
import { clean, cleanLines } from '../../render/clean.ts';
import { fit, paint, type Style, sign } from '../../render/style.ts';
import { tableLines } from '../../render/table.ts';
import { ask } from '../setup/ask-server.ts';
import type { Context } from '../setup/context.ts';
import { printResult } from '../setup/output.ts';
import { EXIT } from '../start/exit-code.ts';
import { findAgent } from './find-agent.ts';

type Diff = DocumentOf<'coppice/diff/v1'>;
type Side = NonNullable<Diff['agents'][number]['a']>;

const HEAD = ['AGENT', 'OUTCOME', 'CALLS', 'FILES', 'TOKENS', 'COST', 'TIME', 'DIFFERS'] as const;
const DIFF_LINES = 30;

/** `coppice diff A B`: exits like diff(1), with 1 if they differ. */
export function diff(
  context: Context,
  a: string,
  b: string,
  { all = false }: { readonly all?: boolean },
): Promise<number> {
  return ask(context, async (asked) => {
    const [one, other] = [await findAgent(context, asked, a), await findAgent(context, asked, b)];
    const found = await asked.diff(one.id, { with: other.id });
    printResult(context, found, () => [...firstLines(found, context), ...agentLines(found, context, all)]);
    return found.same ? EXIT.done : EXIT.failed;
  });
}

function firstLines({ first, a, b }: Diff, { out: style, width }: Context): string[] {
  if (first === null) return [];
  const place = (seq: number | null, agent_id: string) =>
    `${seq === null ? 'none' : `#${seq}`} in ${agent_id.slice(0, 8)}`;
  const head = `first difference: ${clean(first.path)}, ${clean(first.what)}: ${place(first.a_seq, a)}, ${place(first.b_seq, b)}`;
  const lines = first.diff === null ? ['too large to compare'] : cleanLines(first.diff).trimEnd().split('\n');
  return [
    paint(style, 'bold', fit(head, width, style)),
    ...lines.slice(0, DIFF_LINES).map((line) => coloured(fit(line, width, style), style)),
    ...(lines.length > DIFF_LINES
      ? [paint(style, 'dim', `${lines.length - DIFF_LINES} more lines: --json`)]
      : []),
    '',
  ];
}

function coloured(line: string, style: Style): string {
  if (line.startsWith('@@')) return paint(style, 'cyan', line);
  return line.startsWith('-')
    ? paint(style, 'red', line)
    : line.startsWith('+')
      ? paint(style, 'green', line)
      : line;
}

function agentLines({ agents }: Diff, { out: style, width }: Context, all: boolean): string[] {
  const same = agents.filter(({ differs }) => differs.length === 0).length;
  const rows = agents
    .filter(({ differs }) => all || differs.length > 0)
    .map(({ path, a, b, differs }) => [
      clean(path),
      ...[
        ({ outcome }: Side) => outcome.replaceAll('_', ' '),
        ({ calls }: Side) => String(calls.length),
        ({ files }: Side) => String(files.length),
        ({ tokens }: Side) => count(tokens),
        ({ cost_usd }: Side) => (cost_usd === null ? '–' : cost_usd.toFixed(2)),
        ({ duration_ms }: Side) => duration(duration_ms),
      ].map((cell) => both(a && cell(a), b && cell(b), style)),
      a === null ? 'only the second has it' : b === null ? 'only the first has it' : differs.join(', '),
    ]);
  const rest = counted(same, 'agent is the same', 'agents are the same');
  return [
    ...(rows.length === 0 ? [] : tableLines(HEAD, rows, { width, style })),
    ...(same === 0 ? [] : [rows.length === 0 ? `no difference: ${rest}` : rest]),
  ];
}

function both(a: string | null, b: string | null, style: Style): string {
  return a === b || a === null || b === null ? (a ?? b ?? '') : `${a} ${sign(style, '→')} ${b}`;
}
