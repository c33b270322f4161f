import { inventedValue } from './invented-value.ts';
import { openScript } from './script-run.ts';
import type { ScriptMeta } from './script-source.ts';
import type { ScriptCall, ScriptSetup, ScriptState } from './script-step.ts';

/** Calls after which invented lists are as short as they may be, so that loops that run until nothing new is found come to an end. */
const FULL_CALLS = 50;
const ENTRIES = 2;
const CALLS_MAX = 1_000;

/** What a script does with invented results. */
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
}

/** Runs a script without any agent: each call gets an invented result. Rejects with `E_SCRIPT` for a script that cannot run. */
export async function checkScript(
  setup: Omit<ScriptSetup, 'seed' | 'started_at'>,
  signal?: AbortSignal,
): Promise<ScriptCheck> {
  const run = await openScript({ ...setup, seed: 'check', started_at: 0 });
  try {
    const calls: ScriptCall[] = [];
    const phases = new Map<string | null, number>(run.meta.phases.map(({ title }) => [title, 0]));
    const depths = [0];
    const notices: string[] = [];
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
        depths[event.number] = depth + 1;
        if (event.kind === 'agent') phases.set(event.phase, (phases.get(event.phase) ?? 0) + 1);
      }
      const { state } = step;
      const call =
        state.type === 'waiting' ? calls.find(({ number }) => number === state.pending[0]) : undefined;
      const deepest = depths.reduce((most, one) => Math.max(most, one), 0);
      if (call === undefined || next >= CALLS_MAX) {
        const end = call === undefined ? state : ({ type: 'bounded' } as const);
        return { meta: run.meta, calls, phases, depth: deepest, notices, end };
      }
      depth = depths[call.number] ?? 0;
      now = laterBy(now, call);
      const budget = setup.budget ?? { total: null, spent: 0 };
      const value = inventedResult(call, next < FULL_CALLS ? ENTRIES : 0);
      step = await run.feed([{ type: 'value', call: call.number, value, now, budget }]);
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
