import { count, dollars, duration } from '../../data/amounts.ts';
import { Status } from '../../parts/status.tsx';
import { type Kind, type Lane, statusThen, type Timeline } from './lanes.ts';
import type { Selection } from './picture.ts';
import { rowsOf } from './rows.ts';

interface TableProps {
  readonly timeline: Timeline;
  readonly until: number | null;
  readonly onSelect: (selected: Selection) => void;
}

const PARTS: readonly Kind[] = ['request', 'tool', 'waiting', 'approval', 'queued'];

/** The picture in words and numbers: the tree of agents, and what their time went into. */
export function AgentsTable({ timeline, until, onSelect }: TableProps) {
  const shares = new Map(timeline.shares.map(({ agent, share }) => [agent, share]));
  return (
    <div class="wide">
      <table>
        <caption class="dim">Every agent, what its time went into, and its part of the critical path</caption>
        <thead>
          <tr>
            <th scope="col">Agent</th>
            <th scope="col">Status</th>
            <th scope="col" class="number">
              Began
            </th>
            {PARTS.map((kind) => (
              <th scope="col" class="number" key={kind}>
                {kind === 'request' ? 'model' : kind}
              </th>
            ))}
            <th scope="col" class="number">
              Tokens
            </th>
            <th scope="col" class="number">
              Cost
            </th>
            <th scope="col" class="number">
              Path
            </th>
          </tr>
        </thead>
        <tbody>
          {rowsOf(timeline.lanes, null).map((row) => {
            if (row.type === 'group') return null;
            const { lane, depth } = row;
            const word = until === null ? lane.about.status : statusThen(lane, until);
            if (word === null) return null;
            const share = shares.get(lane.index) ?? 0;
            return (
              <tr key={lane.id}>
                <th
                  scope="row"
                  ref={(cell) => cell?.style.setProperty('padding-left', `${10 + depth * 16}px`)}
                >
                  <button
                    type="button"
                    class="quiet"
                    onClick={() => onSelect({ lane: lane.index, bar: null })}
                  >
                    {lane.about.name}
                  </button>
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
        </tbody>
      </table>
    </div>
  );
}

function timeIn({ bars }: Lane, kind: Kind, until: number): string {
  const sum = bars.reduce(
    (total, bar) =>
      bar.kind === kind && bar.start < until ? total + Math.min(bar.end, until) - bar.start : total,
    0,
  );
  return sum === 0 ? '' : duration(sum);
}
