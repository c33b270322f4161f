import { type Door, doorsOf } from '../../src/models/gate/closed-provider.ts';
import type { ModelOutcome, ModelRequest } from '../../src/models/model.ts';
import type { Closing } from '../../src/models/refusals/spent.ts';
import type { Agent } from '../../src/records/agent/agent.ts';
import type { Pause } from '../../src/records/agent/failure.ts';
import { failureOf } from '../../src/records/agent/state.ts';
import { pauseOf } from '../../src/records/conversation/parked.ts';
import type { Random } from './random.ts';
import type { SimLedger } from './sim-ledger.ts';
import type { Trace } from './trace.ts';
import type { Actor, VirtualTime } from './virtual-time.ts';

/** Shortest pause between tries where no time is named. */
const PROBE_SECONDS = { first: 5, most: 40 };
/** No sooner after a refusal than so does the beginning of a turn try it. */
const SOON_MS = 2_000;
/** Failures that are a pause. */
const PAUSES: ReadonlySet<string> = new Set(['rate_limit', 'no_credit', 'auth', 'no_model']);

/** What one life of a process knows of the provider. */
interface Knowledge {
  readonly born_at: number;
  /** Until when it must not ask again; 0: it was not refused since its last answer. */
  closed_until: number;
  answered_at: number;
  refused_at: number;
  /** Whether the last refusal named a time. Where it did not, what begins a turn tries the provider, some time after the refusal. */
  is_named: boolean;
  /** Requests sent after a refusal that have not come back. */
  tries: number;
  readonly answered: Set<string>;
  readonly doors: Map<string, Door>;
}

interface Surroundings {
  readonly time: VirtualTime;
  readonly random: Random;
  readonly trace: Trace;
  readonly ledger: SimLedger;
}

/**
 * The account that all processes share. Now and then it takes no requests for a while, and says until when or not. The laws: an answered request is not asked
 * again, no agent fails because of a pause, and nothing is started into a closed door: not by a process that was refused, not by one whose tree waits
 * according to the ledger, and only one request at a time tries it.
 */
export class SimProvider {
  readonly #around: Surroundings;
  readonly #lives = new Map<Actor, Knowledge>();
  #opens_at = 0;
  #names_time = false;
  #is_calm = false;
  /** How often it closed and refused, and an agent was seen to wait for it. */
  readonly counts = { closed: 0, refused: 0, parked: 0 };

  constructor(around: Surroundings) {
    this.#around = around;
  }

  /** Begins to close and to open. */
  begin(): void {
    const { time, random, trace } = this.#around;
    time.after(random.between(5_000, 40_000), null, () => {
      if (this.#is_calm) return;
      const ms = random.between(3_000, 60_000);
      this.#names_time = random.chance(0.6);
      this.#opens_at = time.now + ms;
      this.counts.closed += 1;
      trace.add(
        'provider',
        `takes no requests for ${ms} ms, ${this.#names_time ? 'and says so' : 'and does not say how long'}`,
      );
      time.after(ms, null, () => this.begin());
    });
  }

  /** Opens for good. */
  calm(): void {
    this.#is_calm = true;
    this.#opens_at = 0;
  }

  /** The doors of one life of a process. */
  doors(actor: Actor): readonly [Door, Door] {
    const place = { provider: 'sim', model: 'mind', reached: 'the key', probe: PROBE_SECONDS };
    return doorsOf(place, this.#known(actor).doors, () => this.#around.time.now);
  }

  /** A request is sent; returns how it is refused when it comes back, or null. */
  sent(actor: Actor, request: ModelRequest): { readonly ended: (outcome: ModelOutcome) => ModelOutcome } {
    const { time, trace, ledger } = this.#around;
    const known = this.#known(actor);
    const was_refused = known.closed_until > 0;
    const begins = !known.is_named && request.begins === true && time.now - known.refused_at >= SOON_MS;
    const may_try = begins || request.insists === true || this.#isDue(request);
    if (time.now < known.closed_until && !may_try)
      this.#breaks(actor, request, 'asks although it was refused');
    else if (was_refused && known.tries > 0)
      this.#breaks(actor, request, 'asks while another request tries it');
    else if (!was_refused && this.#waits(request, known))
      this.#breaks(actor, request, 'asks although its tree waits, as the ledger says');
    // Whoever has lost an agent meanwhile, and got it back, has lost the answer.
    const { epoch } = ledger.database
      .prepare('SELECT epoch FROM agents WHERE id = ?')
      .get(request.agent.id) as { epoch: number };
    const key = `${request.agent.id}@${epoch} ${request.messages.length} ${JSON.stringify(request.messages.at(-1))}`;
    if (known.answered.has(key)) this.#breaks(actor, request, 'asks again what was answered');
    if (was_refused) {
      known.tries += 1;
      trace.add(actor.name, `tries the provider: ${request.agent.name}`);
    }
    return {
      ended: (outcome) => {
        if (was_refused) known.tries -= 1;
        if (outcome.type === 'aborted') return outcome;
        const left = this.#opens_at - time.now;
        if (left <= 0) {
          if (outcome.type !== 'answer') return outcome;
          known.answered.add(key);
          [known.closed_until, known.answered_at] = [0, time.now];
          return outcome;
        }
        this.counts.refused += 1;
        trace.add(actor.name, `is refused: ${request.agent.name}`);
        const wait_ms = this.#names_time ? left : null;
        const until = time.now + Math.min(left, wait_ms ?? PROBE_SECONDS.first * 1_000);
        // What was under way besides says nothing new.
        if (was_refused || time.now >= known.closed_until) known.closed_until = until;
        [known.refused_at, known.is_named] = [time.now, this.#names_time];
        const closes: Closing = { spent: 'quota', of_model: false, wait_ms };
        return {
          type: 'failure',
          failure: { kind: 'rate_limit', error: 'used up', retryable: true },
          closes,
        };
      },
    };
  }

  /** An agent has changed, as a process sees it. */
  saw(actor: Actor, { id, state }: Agent): void {
    if (pauseOf(state) !== null) this.counts.parked += 1;
    const kind = failureOf(state)?.kind;
    if (kind !== undefined && PAUSES.has(kind))
      this.#around.ledger.broken.push(`pause: ${id} failed with ${kind} at ${actor.name}`);
  }

  #known(actor: Actor): Knowledge {
    const { time } = this.#around;
    const fresh = {
      born_at: time.now,
      closed_until: 0,
      ...{ answered_at: 0, refused_at: 0, is_named: false },
      tries: 0,
      answered: new Set<string>(),
      doors: new Map<string, Door>(),
    };
    const known = this.#lives.get(actor) ?? fresh;
    this.#lives.set(actor, known);
    return known;
  }

  /** Called when a process begins a life. */
  lives(actor: Actor): void {
    this.#known(actor);
  }

  /** Whether an agent of the tree waited before this process began to live, and still must. */
  #waits({ cache_key: tree = '' }: ModelRequest, { born_at, answered_at }: Knowledge): boolean {
    const { time, ledger } = this.#around;
    const rows = ledger.database
      .prepare(
        "SELECT root_id, json_extract(state, '$.paused') AS pause FROM agents WHERE status = 'requesting' AND pause IS NOT NULL",
      )
      .all();
    const told = rows.flatMap(({ root_id, pause }) => {
      const { at, told_at = at, opens_at, tries } = JSON.parse(pause as string) as Pause;
      return told_at < born_at && told_at > answered_at ? [{ root_id, opens_at, tries }] : [];
    });
    // Processes try at different times: the earliest counts. One that starts asks at once where no time was named.
    return (
      told.some(({ root_id }) => root_id === tree) &&
      told.every(({ opens_at, tries }) => tries === 0 && (opens_at ?? 0) > time.now)
    );
  }

  /** Whether the time of the agent has come, by what another process had learnt later, where no time was named. */
  #isDue({ agent }: ModelRequest): boolean {
    const { time, ledger } = this.#around;
    const sql = "SELECT json_extract(state, '$.paused') AS pause FROM agents WHERE id = ?";
    const { pause } = ledger.database.prepare(sql).get(agent.id) as { pause: string | null };
    const { opens_at, tries } = JSON.parse(pause ?? '{}') as Partial<Pause>;
    return (tries ?? 0) > 0 && (opens_at ?? Number.POSITIVE_INFINITY) <= time.now;
  }

  #breaks(actor: Actor, { agent }: ModelRequest, what: string): void {
    this.#around.ledger.broken.push(
      `pause: ${actor.name} ${what}: ${agent.name} at ${this.#around.time.now}`,
    );
  }
}
