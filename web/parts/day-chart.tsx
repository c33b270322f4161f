import { count, dollars } from '../data/amounts.ts';

const WIDTH = 720;
const HEIGHT = 200;
const LEFT = 64;
const BOTTOM = 20;
const TOP = 10;
/** Layers of a bar, from the bottom up. */
const LAYERS = [
  ['cached', 'in, cached'],
  ['fresh', 'in'],
  ['output', 'out'],
] as const;

export interface ChartDay {
  readonly day: string;
  readonly requests: number;
  /** `input` includes `cached`. */
  readonly input: number;
  readonly cached: number;
  readonly output: number;
  readonly cost_usd: number | null;
}

/** Tokens by day as stacked bars; the arrow keys select a day. A table on the same page has the same numbers. */
export function DayChart({
  days,
  selected,
  onSelect,
}: {
  readonly days: readonly ChartDay[];
  readonly selected: string | null;
  readonly onSelect: (day: string | null) => void;
}) {
  const most = Math.max(1, ...days.map(({ input, output }) => input + output));
  const slot = (WIDTH - LEFT) / Math.max(1, days.length);
  const height = (tokens: number) => (tokens / most) * (HEIGHT - TOP - BOTTOM);
  const shown = days.find(({ day }) => day === selected);
  const press = (event: KeyboardEvent) => {
    const at = days.findIndex(({ day }) => day === selected);
    const last = days.length - 1;
    const next = {
      ArrowLeft: at === -1 ? last : Math.max(0, at - 1),
      ArrowRight: at === -1 ? last : Math.min(last, at + 1),
      Home: 0,
      End: last,
    }[event.key];
    if (event.key === 'Escape') onSelect(null);
    if (next === undefined) return;
    event.preventDefault();
    onSelect(days[next]?.day ?? null);
  };
  return (
    <figure class="chart">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label="Tokens by day; arrow keys choose a day"
        tabindex={0}
        onKeyDown={press}
      >
        <text x={LEFT - 6} y={TOP + 8} text-anchor="end">
          {count(most)}
        </text>
        <line x1={LEFT} x2={WIDTH} y1={HEIGHT - BOTTOM} y2={HEIGHT - BOTTOM} />
        {days.map((one, index) => {
          const layers = { cached: one.cached, fresh: one.input - one.cached, output: one.output };
          const x = LEFT + index * slot;
          let y = HEIGHT - BOTTOM;
          return (
            // biome-ignore lint/a11y/noStaticElementInteractions: the arrow keys do the same
            <g
              key={one.day}
              class={one.day === selected ? 'selected' : undefined}
              onClick={() => onSelect(one.day)}
            >
              <title>{lineOf(one)}</title>
              <rect class="day" x={x} y={TOP} width={slot} height={HEIGHT - TOP - BOTTOM} />
              {LAYERS.map(([layer]) => {
                const tall = height(layers[layer]);
                y -= tall;
                return (
                  <rect key={layer} class={layer} x={x + slot * 0.1} y={y} width={slot * 0.8} height={tall} />
                );
              })}
            </g>
          );
        })}
        {[0, Math.floor(days.length / 2), days.length - 1].map((index) => (
          <text
            key={index}
            x={LEFT + (index + 0.5) * slot}
            y={HEIGHT - 5}
            text-anchor={index === days.length - 1 ? 'end' : index === 0 ? 'start' : 'middle'}
          >
            {days[index]?.day.slice(5)}
          </text>
        ))}
      </svg>
      <figcaption>
        {LAYERS.map(([layer, title]) => (
          <span key={layer} class="key">
            <svg viewBox="0 0 10 10" width="10" height="10" aria-hidden="true">
              <rect class={layer} width="10" height="10" />
            </svg>{' '}
            {title}
          </span>
        ))}
        <span aria-live="polite">{shown === undefined ? '' : lineOf(shown)}</span>
      </figcaption>
    </figure>
  );
}

function lineOf({ day, requests, input, cached, output, cost_usd }: ChartDay): string {
  const cost = dollars(cost_usd);
  return `${day}: ${requests} requests, ${count(input)} in (${count(cached)} cached), ${count(output)} out${cost === '' ? '' : `, ${cost}`}`;
}
