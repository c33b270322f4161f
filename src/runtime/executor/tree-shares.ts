import type { Step } from '../../kernel/step.ts';

/** A tree that had something to do within this time counts as one that works. */
const WORKS_MS = 250;
/** What a step takes as far as nothing is known of the tree. */
const STEP_MS = 1;
/** How far a tree may be ahead of its share: what it uses in one round beside others. */
const BURST_MS = 10;
/** What a step weighs for its messages, the agents that it creates, and each character of both, beside 1 for itself: about what the ledger takes for them. */
const WEIGHT = { message: 0.5, agent: 2, character: 1 / 20_000 };
/** Of the newest round in the running mean of what a step of a tree takes. */
const NEWEST = 0.3;

interface Share {
  /** When it last had something to do. */
  seen_ms: number;
  /** What its steps have taken; begins with what is usual among the trees that work. */
  used_ms: number;
  /** What it could have used by now with an equal share of the time. */
  due_ms: number;
  /** What one of its steps takes. */
  step_ms: number;
}

/**
 * Shares the thread among the trees that work at the moment. A tree that is ahead both of an equal share of the time and of what half of the others used waits
 * before its next steps: it slows itself down and not the others. A tree that works alone, and trees alike, never wait. `now`: milliseconds, with fractions.
 */
export class TreeShares {
  readonly #shares = new Map<string, Share>();
  readonly #now: () => number;
  #settled_ms = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** How many steps each of these trees, which have something to do, may take now. Where none may take any: how long until one may. */
  admit(root_ids: readonly string[]): {
    readonly steps: ReadonlyMap<string, number>;
    readonly wait_ms: number;
  } {
    const usual_ms = this.#settle(root_ids);
    const working = this.#shares.size;
    const steps = new Map<string, number>();
    let wait_ms = Number.POSITIVE_INFINITY;
    for (const root_id of root_ids) {
      const { used_ms, due_ms, step_ms } = this.#shares.get(root_id) as Share;
      const left_ms = BURST_MS + Math.max(due_ms, usual_ms) - used_ms;
      if (working === 1) steps.set(root_id, Number.POSITIVE_INFINITY);
      else if (left_ms > 0) steps.set(root_id, Math.max(1, Math.floor(left_ms / step_ms)));
      else wait_ms = Math.min(wait_ms, (used_ms - BURST_MS - due_ms) * working + 1);
    }
    return { steps, wait_ms: steps.size > 0 ? 0 : wait_ms };
  }

  /** Charges these trees for a round that took `took_ms` in all, each for what its steps weigh. */
  charge(round: readonly { readonly root_id: string; readonly step: Step | null }[], took_ms: number): void {
    if (this.#shares.size === 1) return;
    const weighed = round.map(({ root_id, step }) => ({
      root_id,
      weight: step === null ? 1 : weightOf(step),
    }));
    const sum = weighed.reduce((total, { weight }) => total + weight, 0);
    for (const [root_id, own] of Map.groupBy(weighed, (one) => one.root_id)) {
      const share = this.#shares.get(root_id);
      if (share === undefined) continue;
      const used_ms = (took_ms * own.reduce((total, { weight }) => total + weight, 0)) / sum;
      share.used_ms += used_ms;
      share.step_ms += NEWEST * (used_ms / own.length - share.step_ms);
    }
  }

  /** Lets the time since the last round pass. Returns what half of the working trees have used. */
  #settle(root_ids: readonly string[]): number {
    const now = this.#now();
    for (const [root_id, { seen_ms }] of this.#shares)
      if (now - seen_ms > WORKS_MS) this.#shares.delete(root_id);
    const usual_ms = median([...this.#shares.values()].map(({ used_ms }) => used_ms));
    for (const root_id of root_ids) {
      const known = this.#shares.get(root_id);
      if (known !== undefined) known.seen_ms = now;
      else this.#shares.set(root_id, { seen_ms: now, used_ms: usual_ms, due_ms: usual_ms, step_ms: STEP_MS });
    }
    const passed_ms = (now - this.#settled_ms) / this.#shares.size;
    this.#settled_ms = now;
    for (const share of this.#shares.values())
      share.due_ms = Math.min(share.due_ms + passed_ms, share.used_ms);
    return usual_ms;
  }
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[(values.length - 1) >> 1] ?? 0;
}

function weightOf({ messages, create }: Step): number {
  const characters = messages.reduce((sum, { content }) => sum + charactersOf(content), 0);
  return 1 + messages.length * WEIGHT.message + create.length * WEIGHT.agent + characters * WEIGHT.character;
}

/** Of all texts in a value. */
function charactersOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce<number>((sum, part) => sum + charactersOf(part), 0);
}
