import { cutText } from '../../../records/text/cut-text.ts';
import { type JsonObject, parsedObject } from '../../../records/text/json-text.ts';
import { counted } from '../../../records/text/text.ts';
import { duration } from '../../../render/amounts.ts';
import { eachAskPart } from '../../../render/ask-parts.ts';
import { clean } from '../../../render/clean.ts';
import { type Paint, sign, type UiStyle } from '../../../render/style.ts';
import type { CallEntry, ForksEntry } from '../../state/entry.ts';
import { line, type Part, separator } from '../../text/line.ts';
import type { Batches } from '../../text/wrap.ts';
import type { AgentNames } from './agent-names.ts';
import { foldedOutput, wholeOutput } from './folded.ts';
import { cutWord, WAIT_ROWS_MAX, waitRows } from './wait-rows.ts';

/** Lines of output shown of a folded call. */
const OUTPUT_ROWS = 3;
/** Maximum characters of what was read otherwise than it was written. */
const CHANGES_MAX = 60;
/** Maximum characters read for the subject. */
const SUBJECT_MAX = 2_000;

type Status = NonNullable<CallEntry['result']>['status'];

/** A call in one line, `● bash ls -la  ✓`, and the beginning of its output. */
export function* callView(entry: CallEntry, width: number, style: UiStyle, names: AgentNames): Batches {
  const input = parsedObject(entry.input === '' ? '{}' : entry.input);
  const subject = subjectOf(entry, input, names);
  const name = clean(entry.name);
  const mark = entry.result === null ? [] : markOf(entry, style, names);
  const head: Part[] = style.accessible
    ? [`${name}${subject === '' ? '' : ` ${subject}`}`]
    : [[dotPaint(entry), sign(style, '●')], ' ', ['bold', name], subject === '' ? '' : ` ${subject}`];
  if (entry.changes !== undefined)
    head.push(['dim', ` (${cutText(clean(entry.changes.join('; ')), CHANGES_MAX, '…')})`]);
  yield [headLine(head, mark, width, style)];
  if (entry.opened) yield* wholeArguments(entry, width, style);
  yield* output(entry, width, style);
}

/** The subject is truncated, the mark never. */
function headLine(head: readonly Part[], mark: readonly Part[], width: number, style: UiStyle): string {
  if (mark.length === 0) return line(style, width, head);
  const length = mark.reduce((sum, part) => sum + (typeof part === 'string' ? part : part[1]).length, 0);
  const room = width - length;
  return room < 8
    ? line(style, width, [...head, ...mark])
    : line(style, room, head) + line(style, length, mark);
}

function dotPaint({ result }: CallEntry): Paint {
  if (result === null) return 'cyan';
  if (result.facts?.waited?.cut != null) return 'yellow';
  return result.status === 'ok' ? 'green' : result.status === 'error' ? 'red' : 'yellow';
}

const WORDS: Readonly<Record<Status, string>> = {
  ok: 'ok',
  error: 'error',
  denied: 'denied',
  interrupted: 'interrupted',
  cancelled: 'cancelled',
};

function markOf(entry: CallEntry, style: UiStyle, names: AgentNames): Part[] {
  const status = entry.result?.status ?? 'ok';
  const by = entry.answered === undefined ? '' : clean(entry.answered);
  const words = status === 'denied' && by !== '' ? by : WORDS[status];
  if (style.accessible) return [`: ${words}${status === 'denied' || by === '' ? '' : `, ${by}`}`];
  if (status !== 'ok')
    return [
      [status === 'error' ? 'red' : 'yellow', `  ${sign(style, '✗')} ${words}`],
      ['dim', status === 'denied' || by === '' ? '' : `${separator(style)}${by}`],
    ];
  const cut = entry.result?.facts?.waited?.cut ?? null;
  if (cut !== null) return [['yellow', `  ! ${cutWord(cut)}`]];
  const [child] = entry.result?.facts?.created ?? [];
  const slot = child === undefined ? null : names.slot(child);
  if (slot !== null) return [['green', `  ${sign(style, '»')} slot ${slot}`]];
  return [
    ['green', `  ${sign(style, '✓')}`],
    ['dim', by === '' ? '' : ` ${by}`],
  ];
}

function subjectOf({ name, input: raw }: CallEntry, input: JsonObject | null, names: AgentNames): string {
  if (input === null) return clean(cutText(raw, SUBJECT_MAX));
  const text = (key: string): string => (typeof input[key] === 'string' ? (input[key] as string) : '');
  const named = (key: string): string => clean(names.name(text(key)) ?? text(key));
  if (name === 'wait') return waitSubject(input);
  if (name === 'send') return `to ${named('to')}`;
  if (name === 'kill') return killSubject(input, names);
  if (name === 'fork') return clean(text('name'));
  if (name === 'spawn_agents' && Array.isArray(input.tasks)) return counted(input.tasks.length, 'task');
  const first = text('description') || Object.values(input).find((value) => typeof value === 'string');
  return typeof first === 'string' ? clean(cutText(first, SUBJECT_MAX)) : '';
}

function killSubject({ agent_id, agent_ids }: JsonObject, names: AgentNames): string {
  const ids = [agent_id, agent_ids].flat().filter((id) => typeof id === 'string');
  return clean(ids.map((id) => names.name(id) ?? id).join(', '));
}

function waitSubject({ timeout, from_agents }: JsonObject): string {
  const time = typeof timeout === 'number' ? duration(timeout * 1000) : '';
  const whom = Array.isArray(from_agents) ? `on ${counted(from_agents.length, 'agent')}` : 'for a message';
  return `${time} ${whom}`.trim();
}

/** Maximum characters of an argument; a longer one loses its middle. */
const ARGUMENT_MAX = 100_000;
const NOT_ASKED = { subject: '', subject_kind: null, difference: null };

/** Arguments that do not fit one line: a long command, the text of a write, the diff of a patch. */
function* wholeArguments({ name: tool, input }: CallEntry, width: number, style: UiStyle): Batches {
  for (const { name, text } of eachAskPart({ ...NOT_ASKED, tool, input }, ARGUMENT_MAX)) {
    if (!text.includes('\n') && text.length < width / 2) continue;
    if (name !== '') yield [line(style, width, [['cyan', `  ${clean(name)}:`]])];
    yield* wholeOutput(text, width, style);
  }
}

/** Calls whose successful result adds nothing to the mark. */
const QUIET: ReadonlySet<string> = new Set(['fork', 'send', 'kill', 'spawn_agents']);

function* output({ name, result, opened }: CallEntry, width: number, style: UiStyle): Batches {
  if (result === null) return;
  if (opened) return yield* wholeOutput(result.output, width, style);
  const waited = result.facts?.waited;
  if (waited !== undefined) {
    // The mark behind the call says how the wait ended.
    const { rows, cut } = waited;
    const said = rows.length > 0 && !style.accessible ? null : cut;
    return yield waitRows({ rows, cut: said }, width, style, WAIT_ROWS_MAX);
  }
  if (QUIET.has(name) && result.status === 'ok') return;
  yield foldedOutput(result.output, OUTPUT_ROWS, width, style);
}

/** Maximum names in the row; the list of agents is a key away. */
const NAMES_MAX = 12;

/** Many forks in one line, `● fork 57 agents · 3 refused: limit "children" reached: 16 of 16 · one, two, …`; opened, also each call. */
export function* forksView(
  { calls, opened }: ForksEntry,
  width: number,
  style: UiStyle,
  names: AgentNames,
): Batches {
  const refused = calls.flatMap((call) => refusalOf(call) ?? []);
  const created = calls.filter((call) => refusalOf(call) === null);
  const running = calls.some(({ result }) => result === null);
  const paint = running ? 'cyan' : created.length === 0 ? 'red' : refused.length > 0 ? 'yellow' : 'green';
  const mark: Part[] = style.accessible ? [] : [[paint, sign(style, '●')], ' '];
  const [why] = refused;
  const others = refused.filter((other) => other !== why).length;
  yield [
    line(style, width, [
      ...mark,
      ['bold', clean(calls[0]?.name ?? '')],
      ` ${counted(created.length, 'agent')}`,
      ...(why === undefined
        ? []
        : [
            separator(style),
            [
              'yellow',
              `${refused.length} refused: ${why}${others > 0 ? `, ${others} for other reasons` : ''}`,
            ] as const,
          ]),
      ['dim', namesOf(created, style)],
    ]),
  ];
  if (opened) for (const call of calls) yield* callView({ ...call, opened }, width, style, names);
}

/** The first sentence of why a call created no agent; null if it did, or has no result yet. */
function refusalOf({ result }: CallEntry): string | null {
  const { refused } = result?.facts ?? {};
  if (refused !== undefined) return clean(refused).replace(/\.(?: .*)?$/, '');
  return result === null || result.status === 'ok' ? null : result.status;
}

function namesOf(calls: readonly CallEntry[], style: UiStyle): string {
  const names = calls.slice(0, NAMES_MAX).flatMap(({ input }) => {
    const { name, label } = parsedObject(input) ?? {};
    return [name ?? label].filter((one) => typeof one === 'string');
  });
  if (names.length === 0) return '';
  const more = calls.length > NAMES_MAX ? [sign(style, '…')] : [];
  return `${separator(style)}${[...names.map(clean), ...more].join(', ')}`;
}
