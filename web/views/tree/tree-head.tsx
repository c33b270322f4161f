import { count, dollars, duration } from '../../data/amounts.ts';
import { EXPORTED } from '../../data/exported.ts';
import { Ended, Standing, Status } from '../../parts/status.tsx';
import { type Bar, KINDS, type Kind, type Timeline } from './lanes.ts';

/** Title and totals of the tree, and what determined how long it took. */
export function TreeHead({ timeline }: { readonly timeline: Timeline }) {
  const { lanes, end } = timeline;
  const [root] = lanes;
  const tokens = lanes.reduce((sum, { about }) => sum + about.tokens, 0);
  const cost = lanes.reduce((sum, { about }) => sum + (about.cost_usd ?? 0), 0);
  const asked = lanes.filter(({ bars }) =>
    bars.some(({ kind, end: over }) => kind === 'approval' && over === Infinity),
  );
  const paused = lanes.find(({ bars }) => bars.some((bar) => isPause(bar) && bar.end === Infinity));
  return (
    <header class="tree-head">
      <h1>
        {timeline.title}{' '}
        {root !== undefined &&
          (!timeline.lives && /^(done|failed)$/.test(root.about.outcome) ? (
            <Status word={root.about.outcome} />
          ) : (
            <Standing of={root.about} />
          ))}
      </h1>
      <p>
        {duration(end)} · {lanes.length} agent{lanes.length === 1 ? '' : 's'} · {count(tokens)} tokens{' '}
        {cost > 0 ? `· ${dollars(cost)}` : ''}
        {asked.length > 0 && (
          <a class="badge ask" href="/approvals">
            ! {asked.length} wait{asked.length === 1 ? 's' : ''} for approval
          </a>
        )}
        {EXPORTED === null && (
          <a class="badge live" href={`/trees/${timeline.root_id}/live`} title="l">
            Cockpit
          </a>
        )}
      </p>
      {root !== undefined && <Ended of={root.about} />}
      {paused !== undefined && <p class="trouble">{paused.about.outcome_text}</p>}
      <p class="path-sentence">{sentence(timeline)}</p>
    </header>
  );
}

/** Sentence that says what determined how long the tree took. */
function sentence({ shares, lanes, path }: Timeline): string {
  const busy = path.filter(({ kind }) => kind !== 'idle');
  const total = busy.reduce((sum, { start, end }) => sum + end - start, 0);
  if (total === 0) return '';
  const told = (share: number, what: string) =>
    `${Math.round(share * 100)} % of this run waited for ${what}.`;
  const [kind, time] = KINDS.map(
    (one) =>
      [one, busy.reduce((sum, part) => (part.kind === one ? sum + part.end - part.start : sum), 0)] as const,
  ).sort((a, b) => b[1] - a[1])[0] as readonly [Kind, number];
  // What a person can hasten comes before the agent that waits for it.
  if (kind === 'approval') {
    // The call that a person took longest to answer.
    const { name = '', said = '' } = longest(lanes, (bar) => bar.kind === 'approval') ?? {};
    return told(time / total, `your approval of ${`${name} ${said}`.trim()}`);
  }
  const other = shares.find(({ agent }) => lanes[agent]?.about.parent !== null);
  if (other !== undefined && other.share >= 0.2)
    return told(other.share, lanes[other.agent]?.about.name ?? 'another agent');
  const pause = longest(lanes, isPause);
  const waiting = pause === undefined ? 'other agents' : pause.name;
  const what = { request: 'the model', tool: 'tools', waiting, queued: 'its turn', idle: '' };
  return told(time / total, what[kind]);
}

/** A wait that is no call and names what it is for is one for a provider. */
function isPause({ kind, name, seq }: Bar): boolean {
  return kind === 'waiting' && name !== '' && seq === null;
}

function longest(lanes: Timeline['lanes'], of: (bar: Bar) => boolean): Bar | undefined {
  const found = lanes.flatMap(({ bars }) => bars.filter(of));
  return found.sort((a, b) => b.end - b.start - (a.end - a.start))[0];
}

export function Legend() {
  return (
    <ul class="legend" aria-label="Legend">
      {KINDS.map((kind) => (
        <li key={kind}>
          <span class={`swatch ${kind}`} aria-hidden="true" /> {kind === 'request' ? 'model' : kind}
        </li>
      ))}
      <li>
        <span class="swatch path" aria-hidden="true" /> critical path
      </li>
    </ul>
  );
}

interface ScrubberProps {
  readonly timeline: Timeline;
  readonly place: number;
  readonly length: number;
  readonly until: number | null;
  readonly onPlace: (place: number) => void;
}

/** Shows the tree as it was at a moment. */
export function Scrubber({ timeline, place, length, until, onPlace }: ScrubberProps) {
  const words =
    until === null ? 'now' : `${duration(until)} · ${new Date(timeline.began + until).toLocaleString()}`;
  return (
    <label class="scrubber">
      <span class="dim">As of</span>
      <input
        type="range"
        min="0"
        max={length}
        step={length / 1_000}
        value={place}
        aria-valuetext={words}
        onInput={({ currentTarget }) => onPlace(Number(currentTarget.value))}
      />
      <output>{words}</output>
    </label>
  );
}
