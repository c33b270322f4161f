import type { Step } from '../../kernel/step.ts';

/** A tree that had something to do within this time counts as working. */
const WORKS_MS = 250;
/** Assumed duration of a step of a tree that was not measured yet. */
const STEP_MS = 1;
/** How far a tree may be ahead of its share; bounds what it uses in one round beside others. */
const BURST_MS = 10;
/** Maximum that a round is charged for: a ledger that was out of reach is no tree's doing. */
const ROUND_MAX_MS = 100;
/**
 * Weight of a step's messages, of the agents that it creates and of each character of its
 * messages, in addition to 1 for the step: about proportional to the ledger's time.
 */
const WEIGHT = { message: 0.5, agent: 2, character: 1 / 20_000 };
/** Weight of the newest round in the moving average of a tree's step duration. */
const NEWEST = 0.3;

interface Share {
  /** When the tree last had something to do. */
  seen_ms: number;
  /** Time that its steps have taken; starts at the median of the working trees. */
  used_ms: number;
  /** Time that an equal share would have given it by now, at most `used_ms`. */
  due_ms: number;
  /** Average duration of one of its steps. */
  step_ms: number;
}

/**
 * Shares the thread among the trees that work at the moment. A tree that has used more than both an equal share of
 * the time and the median of the working trees waits before its next steps: it slows down itself and not the others.
 * A tree that works alone, and trees with equal load, never wait. `now`: milliseconds, with fractions.
 */
export class TreeShares {
  readonly #shares = new Map<string, Share>();
  readonly #now: () => number;
  readonly #isAtWork: (root_id: string) => boolean;
  #settled_ms = 0;
  /** Whether no other tree works: then nothing is counted. */
  #is_alone = true;

  /** `isAtWork`: whether an agent of the tree is in the middle of a turn; a tree at rest shares the thread with nobody. */
  constructor(now: () => number, isAtWork: (root_id: string) => boolean = () => true) {
    this.#now = now;
    this.#isAtWork = isAtWork;
  }

  /** Returns how many steps each of these trees, which have something to do, may take now. If none may take any, `wait_ms` is how long until one may. */
  admit(root_ids: readonly string[]): {
    readonly steps: ReadonlyMap<string, number>;
    readonly wait_ms: number;
  } {
    const { usual_ms, working } = this.#settle(root_ids);
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

  /** Charges these trees for the round that was admitted last and took `took_ms` in total, in proportion to the weight of their steps. */
  charge(round: readonly { readonly root_id: string; readonly step: Step | null }[], took_ms: number): void {
    if (this.#is_alone) return;
    const weighed = round.map(({ root_id, step }) => ({
      root_id,
      weight: step === null ? 1 : weightOf(step),
    }));
    const sum = weighed.reduce((total, { weight }) => total + weight, 0);
    for (const [root_id, own] of Map.groupBy(weighed, (one) => one.root_id)) {
      const share = this.#shares.get(root_id);
      if (share === undefined) continue;
      const used_ms =
        (Math.min(took_ms, ROUND_MAX_MS) * own.reduce((total, { weight }) => total + weight, 0)) / sum;
      share.used_ms += used_ms;
      share.step_ms += NEWEST * (used_ms / own.length - share.step_ms);
    }
  }

  /** Credits the time since the last round to the working trees, unless one works alone. Returns their number, and the median of the time that they have used. */
  #settle(root_ids: readonly string[]): { readonly usual_ms: number; readonly working: number } {
    const now = this.#now();
    for (const root_id of root_ids) {
      const known = this.#shares.get(root_id);
      if (known !== undefined) known.seen_ms = now;
    }
    const ready = new Set(root_ids);
    let working = ready.size;
    for (const [root_id, { seen_ms }] of this.#shares) {
      if (now - seen_ms > WORKS_MS) this.#shares.delete(root_id);
      else if (!ready.has(root_id) && this.#isAtWork(root_id)) working += 1;
    }
    this.#is_alone = working === 1;
    const news = root_ids.filter((root_id) => !this.#shares.has(root_id));
    if (this.#is_alone && news.length === 0) return { usual_ms: 0, working };
    const usual_ms = median([...this.#shares.values()].map(({ used_ms }) => used_ms));
    for (const root_id of news)
      this.#shares.set(root_id, { seen_ms: now, used_ms: usual_ms, due_ms: usual_ms, step_ms: STEP_MS });
    const passed_ms = (now - this.#settled_ms) / working;
    this.#settled_ms = now;
    for (const share of this.#shares.values())
      share.due_ms = Math.min(share.due_ms + passed_ms, share.used_ms);
    return { usual_ms, working };
  }
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[(values.length - 1) >> 1] ?? 0;
}

function weightOf({ messages, create }: Step): number {
  const characters = messages.reduce((sum, { content }) => sum + charactersOf(content), 0);
  return 1 + messages.length * WEIGHT.message + create.length * WEIGHT.agent + characters * WEIGHT.character;
}

/** Total characters of all strings in a value. */
function charactersOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce<number>((sum, part) => sum + charactersOf(part), 0);
}
