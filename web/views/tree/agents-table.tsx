import { useState } from 'preact/hooks';
import { count, dollars, duration } from '../../data/amounts.ts';
import { usePrinting } from '../../data/printing.ts';
import { Button } from '../../parts/button.tsx';
import { Heads } from '../../parts/heads.tsx';
import { Status } from '../../parts/status.tsx';
import { type Kind, type Lane, type Timeline, wordThen } from './lanes.ts';
import type { Selection } from './picture.ts';
import { rowsOf } from './rows.ts';

interface TableProps {
  readonly timeline: Timeline;
  readonly until: number | null;
  readonly onSelect: (selected: Selection) => void;
}

/** Fixed height of rows, so that only those in view have to exist. */
const ROW_PX = 34;
const VIEW_PX = 640;
const BEYOND = 10;
const PARTS: readonly Kind[] = ['request', 'tool', 'waiting', 'approval', 'queued'];
const NUMBERS = [
  'Began',
  ...PARTS.map((kind) => (kind === 'request' ? 'model' : kind)),
  'Tokens',
  'Cost',
  'Path',
];

/** The picture as a table: the tree of agents, and what they spent their time on. */
export function AgentsTable({ timeline, until, onSelect }: TableProps) {
  const shares = new Map(timeline.shares.map(({ agent, share }) => [agent, share]));
  const [top, setTop] = useState(0);
  const rows = rowsOf(timeline.lanes, null).flatMap((row) => {
    if (row.type === 'group') return [];
    const word = wordThen(row.lane, until);
    return word === null ? [] : [{ ...row, word }];
  });
  const all = usePrinting();
  const from = all ? 0 : Math.max(0, Math.floor(top / ROW_PX) - BEYOND);
  const to = Math.min(rows.length, all ? Infinity : Math.ceil((top + VIEW_PX) / ROW_PX) + BEYOND);
  const gap = (count: number) => (row: HTMLElement | null) =>
    row?.style.setProperty('height', `${count * ROW_PX}px`);
  return (
    <section
      class="wide agents-table"
      aria-label="Agents"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by the keyboard.
      tabIndex={0}
      onScroll={({ currentTarget }) => setTop(currentTarget.scrollTop)}
    >
      <table aria-rowcount={rows.length + 1}>
        <caption class="dim">Every agent, what its time went into, and its part of the critical path</caption>
        <Heads names={['Agent', 'Status', ...NUMBERS]} numbers={NUMBERS} />
        <tbody>
          {from > 0 && <tr ref={gap(from)} />}
          {rows.slice(from, to).map(({ lane, depth, word }, offset) => {
            const share = shares.get(lane.index) ?? 0;
            return (
              <tr key={lane.id} aria-rowindex={from + offset + 2}>
                <th
                  scope="row"
                  ref={(cell) => cell?.style.setProperty('padding-left', `${10 + depth * 16}px`)}
                >
                  <Button
                    does={lane.about.name}
                    class="quiet"
                    onClick={() => onSelect({ lane: lane.index, bar: null })}
                  />
                  <span class="dim">{differencesFromRoot(lane, timeline.lanes[0])}</span>
                </th>
                <td>
                  <Status word={word} />
                </td>
                <td class="number">{duration(lane.about.created)}</td>
                {PARTS.map((kind) => (
                  <td class="number" key={kind}>
                    {timeIn(lane, kind, until ?? timeline.end)}
                  </td>
                ))}
                <td class="number">{count(lane.about.tokens)}</td>
                <td class="number">{dollars(lane.about.cost_usd)}</td>
                <td class="number">{share < 0.005 ? '' : `${Math.round(share * 100)} %`}</td>
              </tr>
            );
          })}
          {to < rows.length && <tr ref={gap(rows.length - to)} />}
        </tbody>
      </table>
    </section>
  );
}

/** Model and effort where they differ from those of the root. */
function differencesFromRoot({ about }: Lane, root: Lane | undefined): string {
  const model = about.model === root?.about.model ? '' : ` ${about.model}`;
  return about.thinking === root?.about.thinking ? model : `${model} thinking ${about.thinking}`;
}

function timeIn({ bars }: Lane, kind: Kind, until: number): string {
  const sum = bars.reduce(
    (total, bar) =>
      bar.kind === kind && bar.start < until ? total + Math.min(bar.end, until) - bar.start : total,
    0,
  );
  return sum === 0 ? '' : duration(sum);
}
