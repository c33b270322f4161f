import { keepNewest } from '../../records/kept-in.ts';
import type { LoadReads } from '../../store/load-ledger.ts';
import { pause } from '../cpu-meter.ts';
import { RequestFeed } from '../request-feed.ts';
import { SharedRead } from './patient-read.ts';

const BARS_MAX = 24;
const FIRST_BAR_MS = 100;
/** Maximum trees that are kept; the least recently active are dropped first. */
const TREES_KEPT = 2_000;

/** Tokens of a tree's requests over time, by when they ended, in at most 24 bars. */
export interface Activity {
  /** Milliseconds since the epoch. */
  readonly begins_at: number;
  readonly bar_ms: number;
  readonly tokens: readonly number[];
}

/** Tokens that the ledger's trees used over time, for sparklines. The first call reads history page by page, later ones only what is new. */
export class TreeActivity {
  readonly #feed: RequestFeed;
  readonly #read = new SharedRead(() => this.#readAll());
  readonly #trees = new Map<string, Activity>();

  constructor(store: LoadReads) {
    this.#feed = new RequestFeed(store, { newest: 0, missing: [] });
  }

  /** Activity of the most recently active trees; `complete` as in `UsageReport`. */
  async newest(
    limit: number,
  ): Promise<{ readonly complete: boolean; readonly trees: ReadonlyMap<string, Activity> }> {
    const complete = await this.#read.soon();
    return { complete, trees: new Map([...this.#trees].slice(-limit)) };
  }

  async #readAll(): Promise<void> {
    for (;;) {
      const found = await this.#feed.next();
      if (found.length === 0) return;
      for (const { root_id, started_at, duration_ms, usage } of found)
        if (root_id !== null) this.#add(root_id, started_at + duration_ms, usage.input + usage.output);
      await pause();
    }
  }

  #add(root_id: string, ended_at: number, tokens: number): void {
    const before = this.#trees.get(root_id) ?? { begins_at: ended_at, bar_ms: FIRST_BAR_MS, tokens: [] };
    keepNewest(this.#trees, root_id, withTokens(before, ended_at, tokens), TREES_KEPT);
  }
}

function withTokens({ begins_at, bar_ms, tokens }: Activity, at: number, used: number): Activity {
  const bar = Math.max(0, Math.floor((at - begins_at) / bar_ms));
  if (bar >= BARS_MAX) {
    const halved = Array.from(
      { length: Math.ceil(tokens.length / 2) },
      (_, pair) => (tokens[2 * pair] ?? 0) + (tokens[2 * pair + 1] ?? 0),
    );
    return withTokens({ begins_at, bar_ms: bar_ms * 2, tokens: halved }, at, used);
  }
  const next = Array.from({ length: Math.max(tokens.length, bar + 1) }, (_, index) => tokens[index] ?? 0);
  next[bar] = (next[bar] ?? 0) + used;
  return { begins_at, bar_ms, tokens: next };
}
