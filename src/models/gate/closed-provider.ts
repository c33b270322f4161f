import { createHash } from 'node:crypto';
import { backOff } from '../../processes/waiting.ts';
import type { Failure } from '../../records/agent/failure.ts';
import type { Barred, Model, ModelDelta, ModelOutcome, ModelRequest } from '../model.ts';
import type { Closing } from '../refusals/spent.ts';

type Failed = Extract<ModelOutcome, { type: 'failure' }>;

/** Pauses between tries of a provider that names no time, in seconds. */
const PROBE_SECONDS = { first: 60, most: 3600 };

type Closed = Omit<Barred, 'wait_ms'> & { readonly until: number | null };

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
  /** Whether this process has an answer of its own, which counts more than what the ledger says. */
  #is_known = false;

  constructor(terms: DoorTerms) {
    this.id = terms.id;
    this.#terms = terms;
    this.#now = terms.now;
  }

  /** Why a request is not sent; null if it may be, also as the one that tries a closed door. */
  bars({
    insists,
    paused,
  }: {
    readonly insists?: boolean | undefined;
    readonly paused?: Barred | undefined;
  } = {}): Barred | null {
    if (paused?.door === this.id && !this.#is_known && this.#closed === null) {
      const { wait_ms, ...terms } = paused;
      this.#closed = { ...terms, until: wait_ms === null ? null : this.#now() + wait_ms };
    }
    if (this.#closed === null) return null;
    const barred = this.#barred(this.#closed);
    const is_due = insists === true || (barred.wait_ms !== null && barred.wait_ms <= 0);
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
    if (this.#is_tried && !saysNothing(outcome)) [this.#closed, this.#is_known] = [null, true];
    this.#is_tried = false;
  }

  close({ spent, wait_ms }: Closing, failure: Failure): Barred {
    const before = this.#closed;
    this.#is_known = true;
    // Requests that were under way get the same answer: only that of a try is news.
    if (before !== null && !this.#is_tried && this.bars() !== null) return this.#barred(before);
    this.#is_tried = false;
    const { first, most } = this.#terms.probe ?? PROBE_SECONDS;
    const asks_person = spent === 'key' || spent === 'model';
    const tries = wait_ms === null && !asks_person ? (before?.tries ?? 0) + 1 : 0;
    const pauses = { base_ms: first * 1000, max_ms: most * 1000 };
    const pause_ms = tries === 0 ? wait_ms : backOff(tries, pauses, () => 1);
    const until = pause_ms === null ? null : this.#now() + pause_ms;
    const text = this.#textOf(spent, failure);
    this.#closed = { spent, door: this.id, text, failure, tries, until };
    return this.#barred(this.#closed);
  }

  /** An answer came; what the ledger says of an older one counts no more. */
  answered(): void {
    this.#is_known = true;
  }

  #textOf(spent: Closing['spent'], { kind }: Failure): string {
    const { name } = this.#terms;
    if (spent === 'credit') return `credit at ${name}`;
    if (spent === 'key') return `a key that ${name} accepts`;
    if (spent === 'model') return `the model ${name}`;
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
  const account = createHash('sha256').update(reached).digest('hex').slice(0, 12);
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
    closed: (paused) => doors.some((door) => door.bars({ paused }) !== null),
    stream: async (request, onDelta) => {
      const barred = request.parks === undefined ? null : barredBy(doors, request);
      if (barred !== null) return barred;
      const outcome = await inner.stream(request, onDelta);
      if (outcome.type !== 'failure' || outcome.failure.kind !== 'rate_limit') return outcome;
      // Refused to the end, without a word on the time.
      const closes = { spent: 'quota', of_model: true, wait_ms: null } as const;
      if (outcome.barred !== undefined) return outcome;
      const result = closed(doors, request, { ...outcome, closes });
      if (result.barred !== undefined) request.onTried?.([result.barred.door], result.barred);
      return result;
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
  let is_taken = request.paused === undefined;
  const take = (): void => {
    if (!is_taken) request.onTaken?.();
    is_taken = true;
  };
  if (tried.length === 0) take();
  const outcome = await model.stream(request, (delta) => {
    take();
    onDelta(delta);
  });
  const result = outcome.type === 'failure' ? closed(doors, request, outcome) : outcome;
  for (const door of tried) door.tried(outcome);
  for (const door of doors) if (outcome.type === 'answer') door.answered();
  const still = result.type === 'failure' ? (result.barred ?? null) : null;
  if (tried.length > 0)
    request.onTried?.(
      tried.map(({ id }) => id),
      still,
    );
  return result;
}

function barredBy(doors: readonly Door[], request: ModelRequest): Failed | null {
  for (const bars of [() => request.bars?.() ?? null, ...doors.map((door) => () => door.bars(request))]) {
    const barred = bars();
    if (barred !== null) return failed(request, barred);
  }
  return null;
}

/** Closes the door that a failure is about, if the agent may wait. */
function closed([provider, model]: readonly [Door, Door], request: ModelRequest, outcome: Failed): Failed {
  const { closes, failure } = outcome;
  if (closes === undefined || request.parks?.(closes.spent) !== true) return outcome;
  return { ...outcome, ...failed(request, (closes.of_model ? model : provider).close(closes, failure)) };
}

/** A failure that the gate does not repeat. */
function failed(request: ModelRequest, barred: Barred): Failed {
  const failure = { ...barred.failure, retryable: false };
  const parks = request.parks?.(barred.spent) === true;
  return { type: 'failure', failure, ...(parks && { barred }) };
}
