import { parsedObject } from '../../../records/text/json-text.ts';
import { clean } from '../../../render/clean.ts';
import { sign, type UiStyle } from '../../../render/style.ts';
import type { CallEntry, ForksEntry } from '../../state/entry.ts';
import { line, type Part, separator } from '../../text/line.ts';
import type { AgentNames } from './agent-names.ts';
import { callView } from './call-view.ts';

/** Maximum names in the row; the list of agents is a key away. */
const NAMES_MAX = 12;

/** Many forks in one line, `● fork 57 agents · 3 refused: limit "children" reached: 16 of 16 · one, two, …`; opened, also each call. */
export function* forksView(
  { calls, opened }: ForksEntry,
  width: number,
  style: UiStyle,
  names: AgentNames,
): Generator<readonly string[]> {
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
      ` ${created.length} ${created.length === 1 ? 'agent' : 'agents'}`,
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
  if (result === null) return null;
  const error = parsedObject(result.output)?.error;
  const said = typeof error === 'object' && error !== null && 'message' in error ? error.message : error;
  if (result.status === 'ok' && said === undefined) return null;
  return typeof said === 'string' ? clean(said).replace(/\.(?: .*)?$/, '') : result.status;
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
