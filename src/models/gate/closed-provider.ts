import { hash } from 'node:crypto';
import { backOff } from '../../processes/waiting.ts';
import type { Failure } from '../../records/agent/failure.ts';
import { namesNoTime } from '../../records/conversation/parked.ts';
import type { Barred, Model, ModelDelta, ModelOutcome, ModelRequest, Told } from '../model.ts';
import type { Closing } from '../refusals/spent.ts';

type Failed = Extract<ModelOutcome, { type: 'failure' }>;

/** Pauses between tries of a provider that names no time, in seconds. */
const PROBE_SECONDS = { first: 60, most: 3600 };
/** The same where nobody answers: a network comes back soon, and a try of it costs nothing. */
const SERVICE_SECONDS = { first: 5, most: 600 };
/** After this time a key or a model that was refused once, but has worked here, is tried again; turns that begin try a provider no sooner after its last answer. */
const DOUBT_MS = 2_000;

type Closed = Omit<Barred, 'wait_ms'> & { readonly until: number | null };

/** What a refusal tells nothing new of where it has worked. */
const ASKS_PERSON: ReadonlySet<Closing['spent']> = new Set(['key', 'model']);
/** Failures that say nothing of what the provider takes. */
const UNREACHED: ReadonlySet<Failure['kind']> = new Set(['network', 'overloaded']);

interface DoorTerms {
  readonly id: string;
  /** As people call it: `anthropic`, `anthropic/claude-sonnet-4-5`. */
  readonly name: string;
  readonly probe?: { readonly first: number; readonly most: number } | undefined;
  /** The time in milliseconds; it must go on while the machine sleeps. */
  readonly now: () => number;
}

/**
 * A provider, with one key, or one of its models. An answer that says that it takes no more requests (`closingIn`) closes it for all agents of the process: they
 * wait in the ledger. When its time has come one request tries it, and the others follow if that succeeds.
 */
export class Door {
  readonly id: string;
  readonly #terms: DoorTerms;
  readonly #now: () => number;
  #closed: Closed | null = null;
  #is_tried = false;
  /** When this process had an answer of its own last: what the ledger was told before counts no more. */
  #known_at = Number.NEGATIVE_INFINITY;
  /** Whether requests were answered here since it was closed last. */
  #has_worked = false;
  /** Whether this process has had an answer of its own. */
  #has_asked = false;

  constructor(terms: DoorTerms) {
    this.id = terms.id;
    this.#terms = terms;
    this.#now = terms.now;
  }

  /** Closes it as the ledger says, unless this process knows better. `age_ms`: how long ago the ledger was told. */
  learn({ age_ms, wait_ms, ...terms }: Told): void {
    const told_at = this.#now() - age_ms;
    if (terms.door !== this.id || this.#is_tried || told_at <= this.#known_at) return;
    this.#known_at = told_at;
    this.#closed = { ...terms, until: wait_ms === null ? null : this.#now() + wait_ms };
    // Where nobody has named a time, a process that has just started finds out for itself.
    if (!this.#has_asked && namesNoTime(terms)) this.#closed = { ...this.#closed, until: this.#now() };
  }

  /** Why a request is not sent; null if it may be, also as the one that tries a closed door. */
  bars({ insists, begins }: Pick<ModelRequest, 'insists' | 'begins'> = {}): Barred | null {
    if (this.#closed === null) return null;
    const barred = this.#barred(this.#closed);
    const hopes = begins === true && namesNoTime(barred) && this.#now() - this.#known_at >= DOUBT_MS;
    const is_due = insists === true || hopes || (barred.wait_ms !== null && barred.wait_ms <= 0);
    return is_due && !this.#is_tried ? null : barred;
  }

  #barred({ until, ...terms }: Closed): Barred {
    return { ...terms, wait_ms: until === null ? null : until - this.#now() };
  }

  /** Called before a request is sent; returns whether it tries a closed door. */
  begin(): boolean {
    if (this.#closed === null) return false;
    this.#is_tried = true;
    return true;
  }

  /** Called after the request that tried it. Unless its answer has closed it again, it is open; if it was aborted, the next one may try. */
  tried(outcome: ModelOutcome): void {
    if (this.#is_tried && !saysNothing(outcome)) {
      this.#closed = null;
      this.#hasAnswer();
    }
    this.#is_tried = false;
  }

  /** Whether one refusal is not believed yet: the key or the model has worked. */
  doubts({ spent }: Closing): boolean {
    return ASKS_PERSON.has(spent) && this.#has_worked && !this.#is_tried;
  }

  /** Whether an agent may wait for it although it has had no answer yet: the address is right, or the refusal is not believed. */
  isTrusted(closes: Closing): boolean {
    return closes.spent === 'service' ? this.#has_worked : this.doubts(closes);
  }

  /** `is_try`: it is the answer to the request that tried it. */
  close({ spent, wait_ms }: Closing, failure: Failure, is_try = false): Barred {
    const before = this.#closed;
    this.#hasAnswer();
    // Requests that were under way get the same answer: only that of a try is news.
    if (before !== null && !is_try && this.bars() !== null) return this.#barred(before);
    const doubt_ms = this.doubts({ spent, of_model: false, wait_ms }) ? DOUBT_MS : null;
    [this.#is_tried, this.#has_worked] = [false, false];
    const { first, most } = this.#terms.probe ?? (spent === 'service' ? SERVICE_SECONDS : PROBE_SECONDS);
    const named_ms = wait_ms ?? doubt_ms;
    // A person who tries before the time does not make the pauses longer.
    const is_early = (before?.until ?? 0) > this.#now();
    const tries = named_ms === null ? Math.max(1, (before?.tries ?? 0) + (is_early ? 0 : 1)) : 0;
    const pauses = { base_ms: first * 1000, max_ms: most * 1000 };
    const until = this.#now() + (named_ms ?? backOff(tries, pauses, () => 1));
    const text = this.#textOf(spent, failure);
    this.#closed = { spent, door: this.id, text, failure, tries, until };
    return this.#barred(this.#closed);
  }

  /** The request that tried it got no answer of the provider: it is tried again later. One that waits for an answer opens to any sign of life. */
  stay(closes: Closing | undefined): Barred | null {
    if (this.#closed === null || (this.#closed.spent === 'service' && closes === undefined)) return null;
    const { spent, failure, tries } = this.#closed;
    const wait_ms = ASKS_PERSON.has(spent) && tries === 0 ? DOUBT_MS : null;
    return this.close({ spent, of_model: false, wait_ms }, failure, true);
  }

  /** An answer came. */
  answered(): void {
    this.#hasAnswer();
    this.#has_worked = true;
  }

  #hasAnswer(): void {
    [this.#known_at, this.#has_asked] = [this.#now(), true];
  }

  #textOf(spent: Closing['spent'], { kind }: Failure): string {
    const { name } = this.#terms;
    if (spent === 'credit') return `credit at ${name}`;
    if (spent === 'key') return `a key that ${name} accepts`;
    if (spent === 'model') return `the model ${name}`;
    if (spent === 'service') return `${name} to answer`;
    return kind === 'overloaded' ? name : `${name}'s quota`;
  }
}

/** Whether an answer leaves open if the provider takes requests: the gate repeats a refused one. */
function saysNothing(outcome: ModelOutcome): boolean {
  return outcome.type === 'aborted' || (outcome.type === 'failure' && outcome.failure.kind === 'rate_limit');
}

/** The doors in front of a model: of the provider with this key, and its own. `reached`: how it is reached, with the key, of which the ids tell nothing. */
export function doorsOf(
  places: {
    readonly provider: string;
    readonly model: string;
    readonly reached: string;
    readonly probe: DoorTerms['probe'];
  },
  shared: Map<string, Door>,
  now: () => number = Date.now,
): readonly [provider: Door, model: Door] {
  const { provider, model, reached, probe } = places;
  const account = hash('sha256', reached).slice(0, 12);
  const doorOf = (id: string, name: string): Door => {
    const door = shared.get(id) ?? new Door({ id, name, probe, now });
    shared.set(id, door);
    return door;
  };
  return [doorOf(account, provider), doorOf(`${account} ${model}`, `${provider}/${model}`)];
}

/** The model with its doors, outside and inside its gate: what waits in the gate is not sent either once a door is closed. */
export function behindDoors(
  model: Model,
  gated: (model: Model) => Model,
  doors: readonly [provider: Door, model: Door],
): Model {
  const inner = gated({ ...model, stream: (...request) => passed(model, doors, ...request) });
  return {
    ...inner,
    closed: () => doors.some((door) => door.bars() !== null),
    learnClosed: (told) => {
      for (const door of doors) door.learn(told);
    },
    stream: async (request, onDelta) => {
      const barred = request.parks === undefined ? null : barredBy(doors, request);
      if (barred !== null) return barred;
      const outcome = await inner.stream(request, onDelta);
      // Refused or unheard to the end, without a word on the time.
      const closes = outcome.type === 'failure' ? closesAtLast(outcome) : null;
      if (outcome.type !== 'failure' || closes === null) return outcome;
      const still = closing(doors, request, outcome.failure, closes);
      if (still === null) return outcome;
      request.onTried?.([still.barred.door], still.barred);
      return { ...outcome, ...failed(still) };
    },
  };
}

async function passed(
  model: Model,
  doors: readonly [provider: Door, model: Door],
  request: ModelRequest,
  onDelta: (delta: ModelDelta) => void,
): Promise<ModelOutcome> {
  if (request.parks === undefined) return model.stream(request, onDelta);
  const barred = barredBy(doors, request);
  if (barred !== null) return barred;
  const tried = doors.filter((door) => door.begin());
  let is_taken = request.is_paused !== true;
  const take = (): void => {
    if (!is_taken) request.onTaken?.();
    is_taken = true;
  };
  if (tried.length === 0) take();
  const outcome = await model.stream(request, (delta) => {
    take();
    onDelta(delta);
  });
  const still = outcome.type === 'failure' ? closingNow(doors, request, outcome, tried) : null;
  for (const door of tried) door.tried(outcome);
  for (const door of doors) if (outcome.type === 'answer') door.answered();
  if (tried.length > 0)
    request.onTried?.(
      tried.map(({ id }) => id),
      still?.barred ?? null,
    );
  return still === null ? outcome : { ...outcome, ...failed(still) };
}

function barredBy(doors: readonly Door[], request: ModelRequest): Failed | null {
  let barred = request.bars?.() ?? null;
  for (const door of doors) barred ??= door.bars(request);
  return barred === null ? null : failed({ barred, parks: request.parks?.(barred.spent, true) === true });
}

/** What a failure closes that no further try has mended. */
function closesAtLast({ failure, closes, barred }: Failed): Closing | null {
  if (barred !== undefined) return null;
  if (failure.kind === 'rate_limit') return { spent: 'quota', of_model: true, wait_ms: null };
  return closes?.spent === 'service' ? closes : null;
}

/** What becomes of the doors that a failed request has tried, or of the one that it closes. */
function closingNow(
  doors: readonly [Door, Door],
  request: ModelRequest,
  { closes, failure }: Failed,
  tried: readonly Door[],
): ReturnType<typeof closing> {
  if (closes !== undefined && closes.spent !== 'service')
    return closing(doors, request, failure, closes, tried);
  const barred = UNREACHED.has(failure.kind) ? (tried[0]?.stay(closes) ?? null) : null;
  return barred && { barred, parks: request.parks?.(barred.spent, true) === true };
}

/** Closes the door that a failure is about, if the agent may wait or has tried the door; null if it closes none. `parks`: whether the agent waits. */
function closing(
  [provider, model]: readonly [Door, Door],
  request: ModelRequest,
  failure: Failure,
  closes: Closing,
  tried: readonly Door[] = [],
): { readonly barred: Barred; readonly parks: boolean } | null {
  const door = closes.of_model ? model : provider;
  const parks = request.parks?.(closes.spent, door.isTrusted(closes)) === true;
  const is_try = tried.includes(door);
  return parks || is_try ? { barred: door.close(closes, failure, is_try), parks } : null;
}

/** A failure that the gate does not repeat. */
function failed({ barred, parks }: NonNullable<ReturnType<typeof closing>>): Failed {
  const failure = { ...barred.failure, retryable: false };
  return { type: 'failure', failure, ...(parks && { barred }) };
}
