import { inventedValue } from './invented-value.ts';
import type { LoadedScript } from './saved-scripts.ts';
import { openScript } from './script-run.ts';
import type { ScriptMeta } from './script-source.ts';
import type { ScriptCall, ScriptSetup, ScriptState } from './script-step.ts';

/** Calls after which invented lists are as short as they may be, so that loops that run until nothing new is found come to an end. */
const FULL_CALLS = 50;
const ENTRIES = 2;
const CALLS_MAX = 1_000;

/** Runs of a workflow within a script that are looked at; further ones are taken to be like the first. */
const RUNS_MAX = 20;

/** What a script does with invented results, and the workflows that it runs. */
export interface ScriptCheck {
  readonly meta: ScriptMeta;
  readonly calls: readonly ScriptCall[];
  /** Calls of agents by phase, in the order of the phases; null: without one. */
  readonly phases: ReadonlyMap<string | null, number>;
  /** The longest chain of calls of which each was made after the result of the one before. */
  readonly depth: number;
  readonly notices: readonly string[];
  /** `bounded`: it still makes calls, after as many as a check answers. */
  readonly end: ScriptState | { readonly type: 'bounded' };
  /** Workflows that it runs whose calls are not all counted: nobody knows their scripts before, or they make too many. */
  readonly uncounted: readonly string[];
}

type CheckSetup = Omit<ScriptSetup, 'seed' | 'started_at'>;
type CheckWithin = Omit<ScriptCheck, 'meta'>;

const UNKNOWN: CheckWithin = {
  ...{ calls: [], phases: new Map(), depth: 1, notices: [], end: { type: 'bounded' }, uncounted: [] },
};

/** Runs a script without any agent: each call gets an invented result. Rejects with `E_SCRIPT` for a script that cannot run. */
export function checkScript(
  { within = [], ...setup }: CheckSetup & Partial<Pick<LoadedScript, 'within'>>,
  signal?: AbortSignal,
): Promise<ScriptCheck> {
  const known: { readonly name: string; readonly args: string; readonly check: Promise<CheckWithin> }[] = [];
  return checkOne(setup, signal, async ({ prompt: name, options: { args } }) => {
    const source = within.find(({ wanted }) => wanted === name)?.script;
    if (source === undefined) return UNKNOWN;
    const given = JSON.stringify(args ?? null);
    const runs = known.filter((one) => one.name === name);
    const same = runs.find((one) => one.args === given) ?? (runs.length < RUNS_MAX ? undefined : runs[0]);
    if (same !== undefined) return same.check;
    const check = checkOne({ ...setup, source, args, nested: true }, signal).catch(
      ({ message }: Error): CheckWithin => {
        const failure = { kind: 'threw', message, line: null, stack: [] } as const;
        return { ...UNKNOWN, end: { type: 'failed', failure } };
      },
    );
    known.push({ name, args: given, check });
    return check;
  });
}

async function checkOne(
  setup: CheckSetup,
  signal?: AbortSignal,
  checkWithin: (call: ScriptCall) => Promise<CheckWithin> = async () => UNKNOWN,
): Promise<ScriptCheck> {
  const run = await openScript({ ...setup, seed: 'check', started_at: 0 });
  try {
    const calls: ScriptCall[] = [];
    const within = new Map<number, CheckWithin>();
    const phases = new Map<string | null, number>(run.meta.phases.map(({ title }) => [title, 0]));
    const count = (title: string | null, more: number) => phases.set(title, (phases.get(title) ?? 0) + more);
    const depths = [0];
    const notices: string[] = [];
    const uncounted = new Set<string>();
    let now = 0;
    let depth = 0;
    let step = await run.feed([]);
    for (let next = 0; ; next++) {
      signal?.throwIfAborted();
      for (const event of step.events) {
        if (event.type === 'notice')
          notices.push(event.line === null ? event.text : `line ${event.line}: ${event.text}`);
        if (event.type !== 'call') continue;
        calls.push(event);
        const { continue: label } = event.options;
        if (label !== undefined && !calls.some((one) => one !== event && one.label === label))
          notices.push(`line ${event.line}: agent(): continue: no agent before has the label "${label}"`);
        if (event.kind === 'agent') count(event.phase, 1);
        depths[event.number] = depth + 1;
        if (event.kind !== 'workflow') continue;
        const inner = await checkWithin(event);
        within.set(event.number, inner);
        depths[event.number] = depth + inner.depth;
        for (const [title, agents] of inner.phases) if (agents > 0) count(title ?? event.phase, agents);
        const { end } = inner;
        for (const one of [...inner.notices, ...(end.type === 'failed' ? [end.failure.message] : [])])
          if (!notices.includes(`${event.prompt}: ${one}`)) notices.push(`${event.prompt}: ${one}`);
        if (end.type === 'bounded') uncounted.add(event.prompt);
      }
      const { state } = step;
      const call =
        state.type === 'waiting' ? calls.find(({ number }) => number === state.pending[0]) : undefined;
      if (call === undefined || next >= CALLS_MAX)
        return {
          ...{ meta: run.meta, phases, notices, uncounted: [...uncounted] },
          calls: [...calls, ...[...within.values()].flatMap((inner) => inner.calls)],
          depth: depths.reduce((most, one) => Math.max(most, one), 0),
          end: call === undefined ? state : { type: 'bounded' },
        };
      depth = depths[call.number] ?? 0;
      now = laterBy(now, call);
      const budget = setup.budget ?? { total: null, spent: 0 };
      const end = within.get(call.number)?.end;
      const entry = { call: call.number, now, budget };
      const value = () =>
        end?.type === 'done' ? JSON.parse(end.result) : inventedResult(call, next < FULL_CALLS ? ENTRIES : 0);
      step = await run.feed([
        end?.type === 'failed'
          ? { ...entry, type: 'failed', reason: end.failure.message }
          : { ...entry, type: 'value', value: value() },
      ]);
    }
  } finally {
    await run.dispose();
  }
}

function inventedResult({ kind, prompt, label, options }: ScriptCall, entries: number): unknown {
  const { schema, choices } = options;
  if (schema !== undefined) return inventedValue(schema, entries);
  if (Array.isArray(choices)) return choices[0];
  if (kind === 'workflow') return {};
  return `invented result of ${label ?? prompt.slice(0, 40)}`;
}

/** The clock after a call: an agent takes a second, a wait as long as it says. */
function laterBy(now: number, { kind, options }: ScriptCall): number {
  if (kind === 'until') return Math.max(now, Date.parse(String(options.at)));
  return now + (kind === 'sleep' ? Number(options.seconds) : 1) * 1_000;
}
