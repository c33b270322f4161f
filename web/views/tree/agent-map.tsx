import { useState } from 'preact/hooks';
import { nameOf } from '../../../src/records/run/outcome.ts';
import { dollars, duration } from '../../data/amounts.ts';
import { Button } from '../../parts/button.tsx';
import { SIGNS } from '../../parts/status.tsx';
import { type Lane, lastedOf, type Timeline, wordThen } from './lanes.ts';

/** From this many agents on, the map stands above the timeline. */
export const MAP_MIN = 40;
export const ORDERS = [
  ['birth', 'oldest first'],
  ['failed', 'failed first'],
  ['slowest', 'slowest first'],
] as const;
export type Order = (typeof ORDERS)[number][0];

/** Words of what went wrong, the worst first, before those of what goes on and of what is done. */
const RANKS = ['failed', 'error', 'timeout', 'declined', 'unled', 'cut_short', 'dead', 'waiting_for_you'];

interface MapProps {
  readonly timeline: Timeline;
  readonly until: number | null;
  readonly order: Order;
  readonly onOrder: (order: Order) => void;
}

/** Every agent of a large tree as one cell: its colour and sign tell what came of it, its depth how long it took. */
export function AgentMap({ timeline, until, order, onOrder }: MapProps) {
  const [focused, setFocused] = useState<string | null>(null);
  const cells = timeline.lanes.map((lane) => ({
    lane,
    word: wordThen(lane, until) ?? 'pending',
    took: tookOf(lane, timeline),
  }));
  if (order === 'failed') cells.sort((a, b) => rankOf(a.word) - rankOf(b.word) || b.took - a.took);
  if (order === 'slowest') cells.sort((a, b) => b.took - a.took);
  const most = Math.max(1, ...cells.map(({ took }) => took));
  const counts = [...Map.groupBy(cells, ({ word }) => word)].sort((a, b) => rankOf(a[0]) - rankOf(b[0]));
  const here = cells.some(({ lane }) => lane.id === focused) ? focused : cells[0]?.lane.id;
  return (
    <section class="agent-map" aria-label="Map of the agents">
      <div class="head">
        <p class="dim" id="map-counts">
          {counts.map(([word, { length }]) => (
            <span key={word} class={`status ${word}`}>
              <span aria-hidden="true">{SIGNS[word] ?? '·'}</span> {length} {nameOf(word)}
            </span>
          ))}
        </p>
        <fieldset class="tabs">
          <legend class="hidden">Order of the map</legend>
          {ORDERS.map(([key, title]) => (
            <Button does={title} key={key} aria-pressed={key === order} onClick={() => onOrder(key)} />
          ))}
        </fieldset>
      </div>
      <ul
        aria-describedby="map-counts"
        aria-label="Agents; arrow keys move, Enter opens"
        onKeyDown={moveCell}
      >
        {cells.map(({ lane, word, took }) => (
          <li key={lane.id}>
            <a
              href={`/agents/${lane.id}`}
              class={`cell ${word}`}
              ref={(cell) => cell?.style.setProperty('--heat', `${16 + Math.round((30 * took) / most)}%`)}
              tabIndex={lane.id === here ? 0 : -1}
              onFocus={() => setFocused(lane.id)}
              title={`${lane.about.name} · ${nameOf(word)} · ${duration(took)}${told(lane)}`}
              aria-label={`${lane.about.name}, ${nameOf(word)}, ${duration(took)}${told(lane)}`}
            >
              {SIGNS[word] ?? '·'}
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

function rankOf(word: string): number {
  const rank = RANKS.indexOf(word);
  return rank >= 0 ? rank : RANKS.length + Number(word === 'idle' || word === 'done');
}

/** Whole seconds, so that a map of agents at work keeps its order. */
function tookOf(lane: Lane, timeline: Timeline): number {
  return Math.floor(lastedOf(lane, timeline.end) / 1_000) * 1_000;
}

function told({ about }: Lane): string {
  return about.cost_usd === null || about.cost_usd === 0 ? '' : ` · ${dollars(about.cost_usd)}`;
}

/** Arrow keys move from cell to cell, also up and down; Home and End to the first and the last. */
function moveCell(event: KeyboardEvent): void {
  const cells = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>('a')];
  const now = cells.indexOf(document.activeElement as HTMLElement);
  const [first] = cells;
  if (now < 0 || first === undefined) return;
  const across = cells.findIndex(({ offsetTop }) => offsetTop > first.offsetTop);
  const columns = across < 0 ? cells.length : across;
  const steps: Readonly<Record<string, number>> = {
    ArrowLeft: -1,
    ArrowRight: 1,
    ArrowUp: -columns,
    ArrowDown: columns,
    Home: -now,
    End: cells.length - 1 - now,
  };
  const step = steps[event.key];
  if (step === undefined) return;
  event.preventDefault();
  cells[now + step]?.focus();
}
