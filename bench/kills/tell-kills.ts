import { LAWS, type Law } from '../judge/finding.ts';
import {
  HITS,
  POINTS,
  type Point,
  SITUATIONS,
  type Situation,
  STEP_KINDS,
  type StepKind,
} from './kill-points.ts';
import type { KillTally } from './kill-tally.ts';

const MOST_LINES = 25;

/** Prints the results of all runs as tables that can be pasted into docs/benchmarks.md; returns false if they failed. */
export function tellKills(
  tallies: readonly KillTally[],
  points: readonly Point[],
  kills: number,
  print: (line: string) => void,
): boolean {
  table(
    print,
    ['killed', ...tallies.map(({ database }) => NAMES[database] ?? database)],
    [
      ...points.map((point) => [
        `\`${point}\`: ${POINTS[point]}`,
        ...tallies.map(({ deaths }) => count(deaths, (death) => death.point === point)),
      ]),
      ['**all**', ...tallies.map(({ deaths }) => `**${deaths.length}**`)],
    ],
  );
  const kinds = { ...STEP_KINDS, ...SITUATIONS };
  const hits = [...new Set(points.flatMap((point) => HITS[point]))];
  table(
    print,
    ['hit', ...tallies.map(({ database }) => NAMES[database] ?? database)],
    [
      ...(Object.keys(kinds) as (StepKind | Situation)[])
        .filter((hit) => hits.includes(hit))
        .map((hit) => [
          `${hit in SITUATIONS ? 'taken over while ' : ''}${kinds[hit]}`,
          ...tallies.map(({ deaths }) => count(deaths, (death) => death.hit === hit)),
        ]),
    ],
  );
  table(print, ['looked at', ...tallies.map(({ database }) => NAMES[database] ?? database)], rows(tallies));
  print('');
  const failures = [...broken(tallies), ...missed(tallies, points, kills)];
  for (const failure of failures.slice(0, MOST_LINES)) print(`  ✗ ${failure}`);
  if (failures.length > MOST_LINES) print(`  … and ${failures.length - MOST_LINES} more`);
  print(failures.length === 0 ? 'PASS' : `FAIL: ${failures.length}`);
  return failures.length === 0;
}

const NAMES: Readonly<Record<string, string>> = { sqlite: 'SQLite', postgres: 'PostgreSQL' };

function rows(tallies: readonly KillTally[]): string[][] {
  const row = (title: string, cell: (tally: KillTally) => number | string) => [
    title,
    ...tallies.map((tally) => String(cell(tally))),
  ];
  return [
    row('runs, trees, agents', ({ runs, trees, agents }) => `${runs}, ${trees}, ${agents}`),
    row('acknowledged messages', ({ acknowledged }) => acknowledged.messages),
    row('acknowledged letters and outcomes', ({ acknowledged }) => acknowledged.letters),
    row('acknowledged new agents', ({ acknowledged }) => acknowledged.agents),
    row('acknowledged deliveries of mail', ({ acknowledged }) => acknowledged.taken),
    row('letters told once to their readers', ({ letters_delivered }) => letters_delivered),
    row(
      'steps in hand at `in-commit`: there in full, not there',
      ({ in_hand }) => `${in_hand.landed}, ${in_hand.steps - in_hand.landed}`,
    ),
    row('calls that ran exactly once', ({ calls }) => calls.once),
    row(
      'calls `interrupted`: had run, had not',
      ({ calls }) => `${calls.interrupted_after}, ${calls.interrupted_before}`,
    ),
    ...(Object.keys(LAWS) as Law[]).map((law) =>
      row(
        `**${law}**: ${LAWS[law]}`,
        ({ findings }) => `**${findings.filter((one) => one.law === law).length}**`,
      ),
    ),
    row('seconds', ({ seconds }) => seconds.toFixed(0)),
  ];
}

function broken(tallies: readonly KillTally[]): string[] {
  return tallies.flatMap(({ database, findings }) =>
    findings.map(({ law, text }) => `${database}: ${law}: ${text}`),
  );
}

/** Kills that did not fire: in all, at each point, on each target. */
function missed(tallies: readonly KillTally[], points: readonly Point[], kills: number): string[] {
  const least = Math.floor(kills / points.length);
  const hits = new Set(points.flatMap((point) => HITS[point]));
  return tallies.flatMap(({ database, deaths }) => [
    ...(deaths.length < kills ? [`${database}: ${deaths.length} kills instead of ${kills}`] : []),
    ...points
      .filter((point) => deaths.filter((death) => death.point === point).length < least)
      .map((point) => `${database}: less than ${least} kills ${point}`),
    ...[...hits]
      .filter((hit) => kills >= MANY && !deaths.some((death) => death.hit === hit))
      .map((hit) => `${database}: no kill has hit "${hit}"`),
  ]);
}

/** From this number of kills on, each kind of step must be among them. */
const MANY = 300;

function count<T>(all: readonly T[], test: (one: T) => boolean): string {
  return String(all.filter(test).length);
}

function table(
  print: (line: string) => void,
  head: readonly string[],
  body: readonly (readonly string[])[],
): void {
  const widths = head.map((_, at) => Math.max(...[head, ...body].map((row) => row[at]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`;
  print('');
  print(line(head));
  print(`| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`);
  for (const row of body) print(line(row));
}
