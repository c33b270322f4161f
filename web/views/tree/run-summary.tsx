import { count, duration } from '../../data/amounts.ts';
import { Button } from '../../parts/button.tsx';
import { Fact, Heads } from '../../parts/heads.tsx';
import { Standing } from '../../parts/status.tsx';
import { type Bar, KINDS, type Lane, type Timeline } from './lanes.ts';
import type { Selection } from './picture.ts';

const ROWS = 6;

interface SummaryProps {
  readonly timeline: Timeline;
  readonly onSelect: (selected: Selection) => void;
}

/** The run in numbers, until something is chosen: who decided how long it took, its longest calls, what its time and tokens went into. */
export function RunSummary({ timeline, onSelect }: SummaryProps) {
  const { lanes, shares, end } = timeline;
  const long = longest(lanes, end);
  const deciding = shares.filter(({ share }) => share >= 0.01).slice(0, ROWS);
  const bars = lanes.flatMap((lane) => lane.bars);
  const sum = (of: (bar: Bar) => number) => bars.reduce((total, bar) => total + of(bar), 0);
  const calls = lanes.reduce((total, { about }) => total + about.tool_calls, 0);
  const input = sum((bar) => bar.input);
  const cached = sum((bar) => bar.cached);
  return (
    <>
      <h2>The run</h2>
      <dl class="step-facts">
        {KINDS.filter((kind) => kind !== 'idle').map((kind) => {
          const time = sum((bar) => (bar.kind === kind ? Math.min(bar.end, end) - bar.start : 0));
          return time <= 0 ? null : (
            <Fact key={kind} name={kind === 'request' ? 'model' : kind}>
              <span class={`swatch ${kind}`} aria-hidden="true" /> {duration(time)}
            </Fact>
          );
        })}
        <Fact name="calls">{count(calls)}</Fact>
        {input > 0 && (
          <Fact name="tokens">
            {count(input)} in{cached > 0 && ` (${Math.round((100 * cached) / input)} % cached)`},{' '}
            {count(sum((bar) => bar.output))} out
          </Fact>
        )}
      </dl>
      {deciding.length > 0 && (
        <Rows title="Critical path" amount="Share">
          {deciding.map(({ agent, share }) => {
            const lane = lanes[agent];
            return lane === undefined ? null : (
              <tr key={agent}>
                <td>
                  <Button
                    does={lane.about.name}
                    class="quiet"
                    onClick={() => onSelect({ lane: agent, bar: null })}
                  />{' '}
                  <Standing of={lane.about} />
                </td>
                <td class="number">{Math.round(100 * share)} %</td>
              </tr>
            );
          })}
        </Rows>
      )}
      {long.length > 0 && (
        <Rows title="Longest calls" amount="Took">
          {long.map(({ lane, index, bar }) => (
            <tr key={`${lane.index} ${index}`}>
              <td>
                <button
                  type="button"
                  class="quiet"
                  onClick={() => onSelect({ lane: lane.index, bar: index })}
                >
                  <span class={`swatch ${bar.kind}`} aria-hidden="true" /> {`${bar.name} ${bar.said}`.trim()}
                </button>{' '}
                <span class="dim">{lane.about.name}</span>
              </td>
              <td class="number">{duration(Math.min(bar.end, end) - bar.start)}</td>
            </tr>
          ))}
        </Rows>
      )}
    </>
  );
}

interface RowsProps {
  readonly title: string;
  readonly amount: string;
  readonly children: preact.ComponentChildren;
}

function Rows({ title, amount, children }: RowsProps) {
  return (
    <table class="steps">
      <Heads names={[title, amount]} numbers={[amount]} />
      <tbody>{children}</tbody>
    </table>
  );
}

interface LongCall {
  readonly lane: Lane;
  readonly index: number;
  readonly bar: Bar;
}

/** The calls that took longest, with those that wait for a person. */
function longest(lanes: readonly Lane[], end: number): readonly LongCall[] {
  const took = ({ bar }: LongCall) => Math.min(bar.end, end) - bar.start;
  let found: LongCall[] = [];
  for (const lane of lanes) {
    for (const [index, bar] of lane.bars.entries())
      if (bar.kind === 'tool' || bar.kind === 'approval') found.push({ lane, index, bar });
    // Bounded: a tree may have tens of thousands.
    if (found.length > 50 * ROWS) found = found.sort((a, b) => took(b) - took(a)).slice(0, ROWS);
  }
  return found.sort((a, b) => took(b) - took(a)).slice(0, ROWS);
}
