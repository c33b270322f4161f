import type { provideGlobals } from './script-built-ins.ts';
import type { makeCombinators } from './script-combinators.ts';
import type { CallTools, makeOtherCalls, Settle } from './script-other-calls.ts';

/** What the globals of a script are made from. */
export interface GlobalsSetup {
  /** JSON text; absent if no arguments were given. */
  readonly args?: string;
  /** Four numbers of 32 bits. */
  readonly seed: readonly number[];
  readonly budget: { readonly total: number | null; readonly spent: number };
  readonly agents_max: number;
  readonly nested: boolean;
}

/**
 * Makes the globals of workflow scripts. Its text is run inside the interpreter (`script-machine.ts`), before the script, so it uses nothing from outside. It returns
 * the three functions that only the host holds; the script can reach neither them nor what they share. What goes in and out is JSON text.
 *
 * A script may change every built-in object, so whatever `take` returns is checked by the host.
 */
export function installGlobals(
  text: string,
  combine: typeof makeCombinators,
  makeOthers: typeof makeOtherCalls,
  provide: typeof provideGlobals,
  /** Does not return where the host can end the script. */
  endHere: () => void,
) {
  type Fields = Record<string, unknown>;
  const { parse, stringify } = JSON;
  const { isArray } = Array;
  const { isFinite: finite } = Number;
  const { assign, create, defineProperty, entries, keys } = Object;
  const [PlainError, PlainMap, PlainPromise, PlainSet] = [Error, Map, Promise, Set];
  const setup = parse(text) as GlobalsSetup;
  const FILE = 'workflow.js';
  const EVENTS_MAX = 20_000;
  const CALL_MAX = 1_000_000;
  const RESULT_MAX = 2_000_000;
  const VALUES_MAX = 50_000;

  // Without a prototype, no setter of the script sees what is written to these.
  const out: string[] = create(null);
  let [written, taken] = [0, 0];
  const pending: Record<number, Settle | undefined> = create(null);
  const failures: Fields[] = [];
  let budget = setup.budget;
  let phase: string | null = null;
  let [calls, agents] = [0, 0];

  const bare = (fields: Fields): Fields => assign(create(null), fields);
  const emit = (fields: Fields) => {
    if (written - taken >= EVENTS_MAX && fields.type !== 'failed')
      throw refusal(`it asks for and says more than ${EVENTS_MAX} things at once`);
    const event = stringify(bare(fields));
    const most = fields.type === 'call' ? CALL_MAX : fields.type === 'done' ? RESULT_MAX : event.length;
    if (event.length > most)
      throw new RangeError(
        `${fields.type === 'call' ? `${fields.kind}(): the call` : 'the result'} has ${event.length} characters, and may have ${most}`,
      );
    out[written++] = event;
  };

  const line = (stack: unknown = new PlainError().stack): number | null => {
    const found = typeof stack === 'string' ? stack.indexOf(`${FILE}:`) : -1;
    return found < 0 ? null : parseInt((stack as string).slice(found + FILE.length + 1), 10) || null;
  };

  /** Name and message of what was thrown, whatever it is. */
  const said = (error: unknown): string => {
    try {
      if (typeof error !== 'object' || error === null) return String(error);
      const { name, message } = error as Partial<Error>;
      if (typeof message === 'string') return name === undefined ? message : `${name}: ${message}`;
      return stringify(error) ?? 'an object';
    } catch {
      return 'a value that cannot be shown';
    }
  };
  const stackOf = (error: unknown): string | null => {
    try {
      const { stack } = error as Partial<Error>;
      return typeof stack === 'string' ? stack : null;
    } catch {
      return null;
    }
  };
  let refused = 0;
  /** What a script has used up it is not given again, so one that catches this goes on for ever: after so many it is ended. */
  const refusal = (words: string): RangeError => {
    const error = new RangeError(words);
    if (++refused < EVENTS_MAX) return error;
    emit({ type: 'failed', kind: 'threw', message: said(error), stack: stackOf(error) });
    endHere();
    return error;
  };
  const notice = (words: string, at = line()) => emit({ type: 'notice', text: words, line: at });

  /** The value as JSON, by itself: what JSON would lose without a word is an error. */
  const plain = (value: unknown, what: string, most = Infinity): string | undefined => {
    let values = 0;
    return stringify(value, function (this: Fields, name: string, after: unknown) {
      const found = this[name];
      if (++values > most) throw new RangeError(`${what} has more than ${most} values`);
      const kind =
        typeof found === 'function' || typeof found === 'symbol'
          ? typeof found
          : found instanceof PlainMap || found instanceof PlainSet || found instanceof PlainPromise
            ? found.constructor.name
            : null;
      if (kind === null) return after;
      const hint = kind === 'Promise' ? ' (await it)' : '';
      throw new TypeError(`${what} is not JSON: ${name === '' ? 'it' : `"${name}"`} is a ${kind}${hint}`);
    });
  };
  const copy = (value: unknown, what: string) => {
    const json = plain(value, what, VALUES_MAX);
    return json === undefined ? undefined : parse(json);
  };

  const call: CallTools['call'] = (kind, prompt, options, settle, shown = {}) => {
    const number = calls + 1;
    emit({
      type: 'call',
      number,
      kind,
      prompt,
      options: bare(options),
      phase,
      label: null,
      line: line(),
      ...shown,
    });
    calls = number;
    return new PlainPromise((done, failed) => {
      pending[number] = settle(done, failed);
    });
  };
  /** Gives the value, and throws for a call that failed. */
  const orThrow =
    (what: string) =>
    (done: (value: unknown) => void, failed: (error: Error) => void): Settle =>
    ({ type, value, reason }) =>
      type === 'value' ? done(value) : failed(new PlainError(`${what}: ${reason}`));

  const must = (good: boolean, words: string) => {
    if (!good) throw new TypeError(words);
  };
  const filled = (value: unknown) => typeof value === 'string' && value.trim() !== '';

  /** Options that change what an agent does: a value that is not understood is an error. Of the others, it is left out. */
  const MEANING: Record<string, (value: unknown) => string | null> = {
    schema: (value) => (typeof value === 'object' && !isArray(value) ? null : 'a JSON Schema (an object)'),
    isolation: (value) => (value === 'worktree' ? null : '"worktree"'),
    context: (value) => (value === 'fork' ? null : '"fork"'),
    continue: (value) => (filled(value) ? null : 'the label of an agent that has finished'),
    budget: (value) =>
      (finite(value) && (value as number) > 0) || (typeof value === 'object' && !isArray(value))
        ? null
        : 'a number of tokens above 0, or { tokens, usd, seconds }',
    onFailure: (value) => (value === 'throw' || value === 'null' ? null : '"throw"'),
  };
  const TEXTS = ['label', 'phase', 'model', 'effort', 'agentType'];

  const optionsOf = (given: unknown): Fields => {
    if (given === undefined || given === null) return {};
    must(typeof given === 'object' && !isArray(given), 'agent(): the options are an object');
    const options: Fields = {};
    for (const [name, value] of entries(given as Fields)) {
      if (value === undefined || value === null || (value === false && name !== 'schema')) continue;
      const wanted = keys(MEANING).includes(name) ? MEANING[name]?.(value) : undefined;
      if (typeof wanted === 'string') throw new TypeError(`agent(): ${name} must be ${wanted}`);
      if (wanted === null || (TEXTS.includes(name) && typeof value === 'string'))
        options[name] = copy(value, `agent(): ${name}`);
      else if (TEXTS.includes(name)) notice(`agent(): ${name} is no text, and is ignored`);
      else emit({ type: 'unknown_option', name, line: line() });
    }
    return options;
  };

  const AGENTS_MAX = `this run may call agent() ${setup.agents_max} times at most`;
  let asked = 0;
  /** Who goes on calling without awaiting what comes never learns that it was refused: then the call itself throws. */
  const awaited = <Given extends unknown[]>(name: string, run: (...given: Given) => unknown) =>
    assign((...given: Given) => {
      if (name === 'agent' && agents > 2 * setup.agents_max) throw refusal(AGENTS_MAX);
      if (++asked > EVENTS_MAX)
        throw refusal(`${name}() is called more than ${EVENTS_MAX} times without waiting for a result`);
      return run(...given);
    }, run);

  const failed = (fields: Fields) => {
    failures[failures.length] = fields;
  };
  const agent = assign(
    async (prompt: unknown, given?: unknown) => {
      must(filled(prompt), 'agent() needs a prompt, a text');
      const { label = null, phase: own = phase, onFailure, ...options } = optionsOf(given);
      if (agents >= setup.agents_max) {
        if (agents++ === setup.agents_max) notice(AGENTS_MAX);
        failed({ label, phase: own, reason: AGENTS_MAX, skipped: false });
        throw refusal(AGENTS_MAX);
      }
      agents++;
      const settle =
        (done: (value: unknown) => void, fail: (error: Error) => void): Settle =>
        ({ type, value, reason }) => {
          if (type === 'value') return done(value);
          failed({ label, phase: own, reason, skipped: type === 'skipped' });
          if (onFailure === 'throw') fail(new PlainError(`${label ?? 'agent'} ${type}: ${reason}`));
          else done(null);
        };
      return call('agent', prompt as string, options, settle, { label, phase: own });
    },
    { failures: () => copy(failures, 'failures') },
  );

  const { orNull, parallel, pipeline } = combine((what, error) =>
    notice(`${what} threw: ${said(error)}`, line(stackOf(error))),
  );

  const shown = (values: readonly unknown[]): string => {
    const texts = values.map((value) => {
      if (typeof value === 'object' && value !== null && !(value instanceof PlainError)) {
        try {
          return stringify(value) ?? String(value);
        } catch {
          // Told as an error is.
        }
      }
      return said(value);
    });
    return texts.join(' ');
  };
  const log = (...values: unknown[]) => emit({ type: 'log', text: shown(values) });

  const { ask, notify, sleep, until, workflow } = makeOthers({
    call,
    copy,
    filled,
    must,
    notice,
    orThrow,
    shown,
    nested: setup.nested,
  });

  const setTimeout = (run: unknown, delay_ms: unknown = 0, ...given: unknown[]): number => {
    must(typeof run === 'function', 'setTimeout() needs a function');
    const seconds = finite(Number(delay_ms)) && Number(delay_ms) > 0 ? Number(delay_ms) / 1000 : 0;
    call('sleep', '', { seconds }, () => () => {
      orNull('setTimeout(): the function', () => (run as (...given: unknown[]) => unknown)(...given));
    });
    timers[calls] = true;
    return calls;
  };
  const timers: Record<number, boolean> = create(null);
  const clearTimeout = (timer: unknown) => {
    const number = Number(timer);
    if (timers[number] !== true || pending[number] === undefined) return;
    pending[number] = undefined;
    emit({ type: 'cancel', number });
  };

  const spent = () => budget.spent;
  const ours: Fields = {
    agent: awaited('agent', agent),
    parallel,
    pipeline,
    log,
    workflow: awaited('workflow', workflow),
    ask: awaited('ask', ask),
    sleep: awaited('sleep', sleep),
    until: awaited('until', until),
    notify: awaited('notify', notify),
    setTimeout,
    clearTimeout,
    phase: (title: unknown) => {
      phase = String(title);
      emit({ type: 'phase', title: phase });
    },
    args: setup.args === undefined ? undefined : parse(setup.args),
    budget: defineProperty(
      {
        spent,
        remaining: () => (budget.total === null ? Infinity : Math.max(0, budget.total - budget.spent)),
      },
      'total',
      { get: () => budget.total, enumerable: true },
    ),
    console: { log, info: log, warn: log, error: log, debug: log },
  };
  provide(ours, setup.seed);

  return {
    /** Runs the script, an async function. */
    begin(script: () => Promise<unknown>): void {
      script().then(
        (value) => {
          try {
            emit({ type: 'done', result: plain(value, 'the result') ?? 'null' });
          } catch (error) {
            emit({ type: 'failed', kind: 'not_json', message: said(error), stack: stackOf(error) });
          }
        },
        (error) => emit({ type: 'failed', kind: 'threw', message: said(error), stack: stackOf(error) }),
      );
    },
    /** Gives the script a result. */
    deliver(entry_text: string): void {
      const entry = parse(entry_text) as Parameters<Settle>[0] & { call: number; budget: typeof budget };
      budget = entry.budget;
      [asked, refused] = [0, 0];
      const settle = pending[entry.call];
      pending[entry.call] = undefined;
      settle?.(entry);
    },
    /** The next event that was not taken yet, as JSON text. */
    take(): string | undefined {
      const event = out[taken];
      if (event !== undefined) delete out[taken++];
      return event;
    },
    /** Where the script is, after so many steps. */
    here(steps: number): unknown {
      for (let n = 0; n < steps; n++);
      return new PlainError().stack;
    },
  };
}
