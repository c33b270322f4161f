import { openScript, type ScriptRun } from '../../src/models/workflow/script-run.ts';
import type {
  RecordedCall,
  ScriptCall,
  ScriptEntry,
  ScriptEvent,
  ScriptSetup,
  ScriptStep,
} from '../../src/models/workflow/script-step.ts';

export const META = "export const meta = { name: 'test', description: 'a test' };\n";
export const STARTED_AT = Date.UTC(2026, 0, 2, 3, 4, 5);

/** Setup of a script whose body follows `META` on its second line. */
export function setupOf(body: string, more: Partial<ScriptSetup> = {}): ScriptSetup {
  return { source: META + body, seed: 'seed', started_at: STARTED_AT, ...more };
}

type Outcome =
  | { readonly type: 'value'; readonly value: unknown }
  | { readonly type: 'failed' | 'skipped'; readonly reason: string };

/** The entry of a call's result, a second after the one before. */
export function entryOf(call: number, place: number, outcome: Outcome): ScriptEntry {
  return { call, now: STARTED_AT + (place + 1) * 1000, budget: { total: 10, spent: place + 1 }, ...outcome };
}

export interface Played {
  readonly calls: readonly ScriptCall[];
  readonly entries: readonly ScriptEntry[];
  readonly events: readonly ScriptEvent[];
  readonly last: ScriptStep['state'];
}

/** Plays a script to its end: `answer` gives the result of a call, `choose` which of the pending calls gets its result next. */
export async function play(
  setup: ScriptSetup,
  answer: (call: ScriptCall) => Outcome = ({ prompt }) => ({ type: 'value', value: `did ${prompt}` }),
  choose: (pending: readonly number[]) => number = ([first]) => first ?? 0,
): Promise<Played> {
  const run = await openScript(setup);
  try {
    const events: ScriptEvent[] = [];
    const entries: ScriptEntry[] = [];
    const calls = new Map<number, ScriptCall>();
    for (let step = await run.feed([]); ; ) {
      events.push(...step.events);
      for (const event of step.events) if (event.type === 'call') calls.set(event.number, event);
      if (step.state.type !== 'waiting')
        return { calls: [...calls.values()], entries, events, last: step.state };
      const call = calls.get(choose(step.state.pending));
      if (call === undefined) throw new Error('no such call is pending');
      const entry = entryOf(call.number, entries.length, answer(call));
      entries.push(entry);
      step = await run.feed([entry]);
    }
  } finally {
    await run.dispose();
  }
}

/** Plays a script, and gives its result. Throws if it has none. */
export async function resultOf(...given: Parameters<typeof play>): Promise<unknown> {
  const { last } = await play(...given);
  if (last.type !== 'done') throw new Error(`the script did not end: ${JSON.stringify(last)}`);
  return JSON.parse(last.result);
}

/** The first step of a script. */
export async function firstStep(
  setup: ScriptSetup,
  recorded: readonly RecordedCall[] = [],
): Promise<ScriptStep> {
  return withRun(setup, (run) => run.feed([], recorded));
}

export async function withRun<T>(setup: ScriptSetup, use: (run: ScriptRun) => Promise<T>): Promise<T> {
  const run = await openScript(setup);
  try {
    return await use(run);
  } finally {
    await run.dispose();
  }
}
