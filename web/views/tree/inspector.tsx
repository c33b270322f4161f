import { useMemo } from 'preact/hooks';
import { count, dollars, duration } from '../../data/amounts.ts';
import type { Loaded } from '../../data/api.ts';
import { EXPORTED } from '../../data/exported.ts';
import { Button } from '../../parts/button.tsx';
import { Fact, Heads } from '../../parts/heads.tsx';
import { Standing } from '../../parts/status.tsx';
import type { Place } from '../past/go-back.tsx';
import { type Why, WhySteps } from '../past/why.tsx';
import { type Bar, type Lane, repeatOf, shortName, type Timeline } from './lanes.ts';
import type { Selection } from './picture.ts';
import { RunSummary } from './run-summary.tsx';
import { stepsOf } from './steps.ts';

const AROUND = 12;

interface InspectorProps {
  readonly timeline: Timeline;
  readonly selected: Selection | null;
  /** What led to the message that is asked about; null: none is. */
  readonly why: Loaded<Why> | null;
  readonly onSelect: (selected: Selection | null) => void;
  readonly onWhy: (seq: number | null) => void;
  /** Asks how the tree is to be taken back there; null: this session may not. */
  readonly onBack: ((place: Place) => void) | null;
}

/** Facts on the selected agent or bar, and a table of what the agent did before and after it. */
export function Inspector({ timeline, selected, why, onSelect, onWhy, onBack }: InspectorProps) {
  const lane = selected === null ? undefined : timeline.lanes[selected.lane];
  // Not at each step of a zoom: it adds up all bars.
  const run = useMemo(() => <RunSummary timeline={timeline} onSelect={onSelect} />, [timeline, onSelect]);
  if (selected === null || lane === undefined)
    return (
      <aside class="inspector" aria-label="Selected">
        {run}
        <p class="dim">Choose an agent or a bar. Arrow keys move, Enter opens, Esc leaves.</p>
      </aside>
    );
  const { about, bars, id } = lane;
  const seq = bars[selected.bar ?? -1]?.seq;
  const steps = stepsOf(bars, selected.bar);
  const middle = steps.findIndex(({ to }) => to >= (selected.bar ?? bars.length - 1));
  const first = Math.max(0, Math.min(middle - AROUND / 2, steps.length - AROUND));
  return (
    <aside class="inspector" aria-label="Selected">
      <h2>
        <a href={`/agents/${id}`}>{about.name}</a> <Standing of={about} />
      </h2>
      <p class="dim">
        {about.model}
        {about.thinking === 'off' ? '' : ` · thinking ${about.thinking}`} · {count(about.tokens)} tokens{' '}
        {dollars(about.cost_usd)} · {about.tool_calls} calls
      </p>
      {selected.bar !== null && <BarFacts timeline={timeline} lane={lane} index={selected.bar} />}
      {seq != null && EXPORTED === null && (
        <div class="buttons">
          <Button does="Why" aria-pressed={why !== null} onClick={() => onWhy(why === null ? seq : null)} />
          {onBack !== null && (
            <Button
              does="Go back…"
              onClick={() => onBack({ root_id: timeline.root_id, agent_id: id, seq, who: about.name })}
            />
          )}
        </div>
      )}
      {why !== null && <WhySteps why={why} />}
      <table class="steps">
        <Heads names={['Step', 'At', 'Took']} numbers={['At', 'Took']} />
        <tbody>
          {steps.slice(first, first + AROUND).map(({ from, to, calls }) => {
            const [bar, last] = [bars[from] as Bar, bars[to] as Bar];
            return (
              <tr key={from} class={from === selected.bar ? 'chosen' : undefined}>
                <td>
                  <button
                    type="button"
                    class="quiet"
                    onClick={() => onSelect({ lane: lane.index, bar: from })}
                  >
                    <span class={`swatch ${bar.kind}`} aria-hidden="true" />{' '}
                    {bar.kind === 'tool' ? repeatOf(lane, from, calls) : shortName(bar.name) || bar.kind}
                  </button>
                  {bar.status !== 'ok' && bar.status !== 'open' && (
                    <span class="status error"> {bar.status}</span>
                  )}
                </td>
                <td class="number">{duration(bar.start)}</td>
                <td class="number">{lasted({ start: bar.start, end: last.end }, timeline)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </aside>
  );
}

function BarFacts({
  timeline,
  lane,
  index,
}: {
  readonly timeline: Timeline;
  readonly lane: Lane;
  readonly index: number;
}) {
  const bar = lane.bars[index];
  if (bar === undefined) return null;
  const waits = lane.waits.filter((wait) => wait.bar === index);
  return (
    <dl class="step-facts">
      <Fact name={bar.kind}>
        {repeatOf(lane, index)} {bar.said !== '' && <q>{bar.said}</q>},{' '}
        {bar.status === 'open' ? 'goes on' : bar.status}, {lasted(bar, timeline)} from {duration(bar.start)}
      </Fact>
      {bar.kind === 'request' && bar.input > 0 && (
        <Fact name="tokens">
          {count(bar.input)} in ({count(bar.cached)} cached), {count(bar.output)} out {dollars(bar.cost_usd)}
        </Fact>
      )}
      {waits.length > 0 && (
        <Fact name={bar.end === Infinity ? 'waits for' : 'ended by'}>
          {waits.map(({ by }) => timeline.lanes[by]?.about.name ?? 'somebody').join(', ')}
        </Fact>
      )}
      {bar.seq !== null && (
        <Fact name="message">
          <a href={`/agents/${lane.id}?seq=${bar.seq}`}>#{bar.seq}</a>
        </Fact>
      )}
    </dl>
  );
}

function lasted({ start, end }: Pick<Bar, 'start' | 'end'>, timeline: Timeline): string {
  return end === Infinity ? `${duration(timeline.now - start)}…` : duration(end - start);
}
