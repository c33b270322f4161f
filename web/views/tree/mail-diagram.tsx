import { useState } from 'preact/hooks';
import type { DocumentOf } from '../../../src/documents/shapes/all-documents.ts';
import { duration } from '../../data/amounts.ts';
import { useApi } from '../../data/api.ts';
import { Button } from '../../parts/button.tsx';
import { Heads } from '../../parts/heads.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import type { Timeline } from './lanes.ts';

type MailPage = DocumentOf<'coppice/tree-mail/v1'>;
type Letter = MailPage['mail'][number];

const REFRESH_MS = 1_000;
const PAGE = 200;
const COLUMN = 150;
const LINE = 44;
const HEAD = 30;
const TEXT_MAX = 46;
const LIST_TEXT_MAX = 200;
/** Letters between more people than this are a list: no eye follows so many life lines. */
const PEOPLE_MAX = 12;

interface LifeLinesProps {
  readonly timeline: Timeline;
  readonly until: number | null;
  /** Index of the agent whose letters are shown; null: all. */
  readonly only: number | null;
}

/** Sequence diagram of the mail: a vertical line for each agent, an arrow for each letter, oldest on top. */
export function MailDiagram({ timeline, until, only }: LifeLinesProps) {
  const path = `/v1/trees/${timeline.root_id}/mail?limit=${PAGE}`;
  const [earlier, setEarlier] = useState<readonly MailPage[]>([]);
  const from = earlier.at(-1)?.next ?? null;
  const { data, error } = useApi<MailPage>(from === null ? path : `${path}&after=${from}`, REFRESH_MS);
  const pages = data === null ? earlier : [...earlier, data];
  if (pages.length === 0) return error === null ? <p class="empty">Reading…</p> : <Trouble error={error} />;
  const chosen = only === null ? null : (timeline.lanes[only]?.id ?? null);
  const all = pages.flatMap(({ mail }) => mail);
  const letters = all.filter(
    ({ sent_at, from_id, to_id, kind }) =>
      kind !== 'control' &&
      (until === null || sent_at - timeline.began <= until) &&
      (chosen === null || from_id === chosen || to_id === chosen),
  );
  // Pages that are still to be loaded may have some.
  if (letters.length === 0 && data !== null && data.next === null)
    return <p class="empty">No agent has written to another yet.</p>;
  const people = peopleOf(letters, timeline);
  const column = new Map(people.map(({ id }, index) => [id, index * COLUMN + COLUMN / 2]));
  const height = HEAD + letters.length * LINE + 10;
  // Leaves room for the text of the last column, which extends beyond it.
  const width = people.length * COLUMN + COLUMN * 1.5;
  return (
    <div class="wide life-lines">
      {people.length > PEOPLE_MAX ? (
        <LetterList letters={letters} timeline={timeline} />
      ) : (
        <svg
          width={width}
          height={height}
          aria-label={`${letters.length} letters between ${people.length} agents and people`}
        >
          {people.map(({ id, name }) => (
            <g key={id}>
              <line class="life" x1={column.get(id)} x2={column.get(id)} y1={HEAD - 6} y2={height} />
              <text class="who" x={column.get(id)} y={16} text-anchor="middle">
                {cut(name, 20)}
              </text>
            </g>
          ))}
          {letters.map((letter, index) => (
            <LetterArrow
              key={letter.id}
              letter={letter}
              from={column.get(letter.from_id ?? letter.from_name) ?? 0}
              to={column.get(letter.to_id) ?? 0}
              y={HEAD + index * LINE + 28}
              at={duration(letter.sent_at - timeline.began)}
              isUnread={letter.read_at === null && !isRead(letter, timeline)}
            />
          ))}
        </svg>
      )}
      {data !== null && data.next !== null && (
        <p>
          <Button does="More letters" onClick={() => setEarlier([...earlier, data])} />{' '}
          <span class="dim">Showing letters among the first {all.length}.</span>
        </p>
      )}
    </div>
  );
}

function LetterList({
  letters,
  timeline,
}: {
  readonly letters: readonly Letter[];
  readonly timeline: Timeline;
}) {
  return (
    <table class="letters">
      <Heads names={['At', 'From', 'To', 'Message']} />
      <tbody>
        {letters.map((letter) => (
          <tr key={letter.id}>
            <td class="number">{duration(letter.sent_at - timeline.began)}</td>
            <td>
              {letter.from_id === null ? (
                letter.from_name
              ) : (
                <a href={`/agents/${letter.from_id}`}>{letter.from_name}</a>
              )}
            </td>
            <td>
              <a href={hrefOf(letter)} data-row>
                {letter.to_name}
              </a>
              {letter.read_at === null && !isRead(letter, timeline) && <span class="badge">unread</span>}
            </td>
            <td class="dim">
              {letter.kind === 'letter' ? '' : `${letter.kind}: `}
              {cut(wordsOf(letter.body), LIST_TEXT_MAX)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The recipient, at the message with which it read the letter. */
function hrefOf({ to_id, consumed_seq }: Letter): string {
  return `/agents/${to_id}${!consumed_seq ? '' : `?seq=${consumed_seq}`}`;
}

interface ArrowProps {
  readonly letter: Letter;
  readonly from: number;
  readonly to: number;
  readonly y: number;
  readonly at: string;
  readonly isUnread: boolean;
}

function LetterArrow({ letter, from, to, y, at, isUnread }: ArrowProps) {
  const way = to >= from ? 1 : -1;
  return (
    <a href={hrefOf(letter)} class={`letter ${letter.kind}${isUnread ? ' unread' : ''}`}>
      <title>{letter.body.slice(0, 1_000)}</title>
      <text x={Math.min(from, to) + 8} y={y - 6}>
        {at} {letter.kind === 'letter' ? '' : `${letter.kind} `}
        {cut(wordsOf(letter.body).replaceAll(/\s+/g, ' '), TEXT_MAX)}
        {isUnread ? ' (unread)' : ''}
      </text>
      <line x1={from} x2={to - way * 6} y1={y} y2={y} />
      <path d={`M${to} ${y}l${-way * 7} -4v8z`} />
    </a>
  );
}

/** What a report says in words: of the document that it is, the summary or the error. */
function wordsOf(body: string): string {
  try {
    const { summary, error } = JSON.parse(body) as { readonly summary?: unknown; readonly error?: unknown };
    return [summary, error].find((one) => typeof one === 'string') ?? body;
  } catch {
    return body;
  }
}

/** Whether the timeline shows the letter as read; pages that were loaded earlier may be stale. */
function isRead({ to_id, number }: Letter, { lanes }: Timeline): boolean {
  const lane = lanes.find(({ id }) => id === to_id);
  return (lane?.letters.find((one) => one.number === number)?.read ?? Infinity) < Infinity;
}

/** Senders and recipients: people first, then agents in the order of the tree. */
function peopleOf(
  letters: readonly Letter[],
  { lanes }: Timeline,
): { readonly id: string; readonly name: string }[] {
  const seen = new Set(
    letters.flatMap(({ from_id, to_id }) => (from_id === null ? [to_id] : [from_id, to_id])),
  );
  const outside = new Set(letters.flatMap(({ from_id, from_name }) => (from_id === null ? [from_name] : [])));
  return [
    ...[...outside].map((name) => ({ id: name, name })),
    ...lanes.filter(({ id }) => seen.has(id)).map(({ id, about }) => ({ id, name: about.name })),
  ];
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}
