import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { runName, workflowText } from '../kernel/toolsets/workflow/workflow-agent.ts';
import type { WorkflowFunction } from '../models/workflow/globals/workflow-function.ts';
import { isActive } from '../records/agent/agent.ts';
import { isTerminal } from '../records/agent/state.ts';
import { CoppiceError, orElse } from '../records/coppice-error.ts';
import { DEFAULT_CALLS, type WorkflowTerms } from '../records/workflow/workflow-terms.ts';
import type { RuntimeFace, StartOptions, TreeOutcome, WorkflowSteer } from '../runtime/runtime-face.ts';
import { checkSettings } from '../settings/check-settings.ts';
import { dataFolder } from '../settings/folders.ts';
import type { Store } from '../store/store.ts';
import { rerunWorkflow } from '../trees/workflow/rerun-run.ts';
import { type WorkflowCounts, workflowCounts, workflowValue } from '../trees/workflow/run-document.ts';
import { messageRun, retryAgent, skipAgent, steerRun } from '../trees/workflow/steer-runs.ts';
import { idOf } from './coppice-agent.ts';
import type { AgentOptions } from './coppice-options.ts';
import { agentHandle, type Patience, type RunningAgent } from './engine.ts';

export interface WorkflowOptions extends Omit<AgentOptions, 'prompt' | 'images' | 'signal'> {
  /** A name of your choice, or the `id` of a run. Called again with it, the run is not started twice: it goes on, or has its result. */
  readonly id?: string;
  /** Maximum calls of `agent()`. Default 1,000. */
  readonly calls?: number;
}

/** How a run ended, and what became of its agents. */
export type WorkflowOutcome = TreeOutcome & WorkflowCounts;

/** Handle on a workflow run, an agent whose model is a script or a function. */
export interface RunningWorkflow<Value> extends Omit<RunningAgent, 'result'> {
  /** Resolves to what the script returned, as JSON. Rejects with `E_WORKFLOW` if it failed or was stopped. */
  result(patience?: Patience): Promise<Value>;
  /** Resolves when nothing of the run works any more, however it ended. */
  outcome(patience?: Patience): Promise<WorkflowOutcome>;
  /** What is under way comes to its end, and nothing new begins, until `resume`. */
  pause(): Promise<void>;
  /** As `pause`, and what is under way is broken off. */
  stop(): Promise<void>;
  resume(): Promise<void>;
  /** Ends an agent of the run, by its id or label: its call gives null. */
  skip(agent: string): Promise<void>;
  /** Runs an agent of the run again, by its id or label: its call gets the new result. Rejects with `E_REFUSED` where the script has gone on without it. */
  retry(agent: string): Promise<void>;
  /** A new run that takes every result of this one, which has ended, wherever its script asks for the same. */
  rerun(change?: {
    readonly args?: unknown;
    readonly fresh?: readonly string[];
  }): Promise<RunningWorkflow<Value>>;
  /** Writes to all agents of the run that work, or those of one phase. */
  message(text: string, to?: { readonly phase?: string }): Promise<void>;
}

export interface Workflows {
  /** Runs a function of this program as a workflow. */
  workflow<Args, Value>(
    run: WorkflowFunction<Args, Value>,
    args: Args,
    options?: WorkflowOptions,
  ): Promise<RunningWorkflow<Value>>;
  workflow<Value>(run: WorkflowFunction<undefined, Value>): Promise<RunningWorkflow<Value>>;
  /** Runs a script: its text, its path, or the name of a saved one. */
  workflow<Value = unknown>(
    script: string,
    args?: unknown,
    options?: WorkflowOptions,
  ): Promise<RunningWorkflow<Value>>;
}

export interface WorkflowSources {
  readonly runtime: RuntimeFace;
  readonly store: Store;
  /** The functions of runs in this process, by the id of the run. */
  readonly functions: Map<string, WorkflowFunction>;
  readonly rootOf: (options: AgentOptions) => StartOptions;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The text of a script, unlike a name or a path, says what it is. */
const SCRIPT = /\n|\bexport\s+const\s+meta\b/;

const RERUN = z.strictObject({ args: z.unknown(), fresh: z.array(z.string()) }).partial();

export function workflowsOn({ runtime, store, functions, rootOf, env }: WorkflowSources): Workflows {
  async function workflow<Value>(
    what: string | WorkflowFunction<never, Value>,
    args?: unknown,
    options: WorkflowOptions = {},
  ): Promise<RunningWorkflow<Value>> {
    if (typeof options !== 'object' || options === null) throw invalid('options', 'an object');
    const { id: key, calls = DEFAULT_CALLS, ...own } = options;
    if (calls < 1 || !Number.isInteger(calls)) throw invalid('calls', 'a whole number, 1 or more');
    const id = idOf(key, 'workflow');
    const known = key === undefined ? null : await store.agent(id);
    if (typeof what === 'function') functions.set(id, what as WorkflowFunction);
    if (known === null) {
      const root = rootOf({ ...own, prompt: ' ' });
      const terms: WorkflowTerms = {
        ...(await programOf(what, root.config.cwd, env)),
        ...(args === undefined ? {} : { args: jsonOf(args) }),
        ...{ seed: id, started_at: Date.now(), calls },
        ...(typeof own.limits?.tokens === 'number' ? { tokens: own.limits.tokens } : {}),
      };
      const config = { ...root.config, workflow: terms };
      const name = own.name ?? runName(terms.name);
      await runtime.start({ ...root, id, name, prompt: workflowText(terms), config });
    }
    if (key !== undefined) await goOn(id, key, what, args);
    return handleOf(id);
  }

  const sources = { store, runtime };

  function handleOf<Value>(id: string): RunningWorkflow<Value> {
    const agentOf = async (agent: string): Promise<string> => {
      const all = await store.agents({ root_id: id });
      const meant = all.filter((one) => one.id === agent || one.config.task?.label === agent);
      const found = meant.find(({ state }) => !isTerminal(state.type)) ?? meant[0];
      if (found !== undefined) return found.id;
      throw new CoppiceError('E_AGENT_NOT_FOUND', `the run has no agent "${agent}"`);
    };
    const handle = agentHandle(runtime, id);
    const steer = (how: WorkflowSteer) => async () => void (await steerRun(sources, id, how));
    return {
      ...handle,
      ...{ pause: steer('pause'), stop: steer('stop'), resume: steer('resume') },
      skip: async (agent) => void (await skipAgent(sources, await agentOf(agent))),
      retry: async (agent) => void (await retryAgent(sources, await agentOf(agent))),
      async rerun(given = {}) {
        const { args, fresh } = checkSettings(RERUN, given, 'of rerun');
        const again = randomUUID();
        const own = functions.get(id);
        if (own !== undefined) functions.set(again, own);
        const change = { fresh, args: args === undefined ? undefined : jsonOf(args) };
        await runtime.start({ id: again, ...(await rerunWorkflow(store, id, change)) });
        return handleOf(again);
      },
      message: async (text, to = {}) => void (await messageRun(sources, id, { text, ...to })),
      async outcome(patience) {
        const settled = await handle.result(patience);
        return { ...settled, ...(await workflowCounts(store, settled.root)) };
      },
      async result(patience) {
        const { root, failure, outcome_text } = await handle.result(patience);
        const value = failure === null ? await workflowValue(store, id) : undefined;
        if (value !== undefined) return value as Value;
        throw new CoppiceError('E_WORKFLOW', `the workflow ${root.name}: ${outcome_text}`, {
          hint: `coppice workflow show ${id}`,
        });
      },
    };
  }

  /** Takes a run that there is already, in whatever state it is, to where it works. */
  async function goOn(
    id: string,
    key: string,
    what: string | WorkflowFunction<never>,
    args: unknown,
  ): Promise<void> {
    const run = await store.agent(id);
    const terms = run?.config.workflow;
    const refused = (why: string) =>
      new CoppiceError('E_INVALID_ARGUMENT', `the id "${key}" is of ${why}`, { hint: 'Use another id' });
    if (run === null || terms === undefined || run.parent_id !== null)
      throw refused('an agent that is no workflow of a program');
    if ((typeof what === 'function') !== (terms.program === true))
      throw refused(terms.program === true ? 'a run of a function' : 'a run of a script');
    const given = args === undefined ? undefined : JSON.parse(jsonOf(args));
    if (!isDeepStrictEqual(given, terms.args === undefined ? undefined : JSON.parse(terms.args)))
      throw refused('a run with other arguments');
    const has_failed = run.state.type === 'errored';
    const living = await store.agents({ root_id: id, living: true });
    if (!has_failed && !living.some(isActive)) return;
    await runtime.resume(id);
    // A program that is started again may have been mended.
    if (has_failed) await runtime.retry(id);
  }

  return { workflow };
}

async function programOf(
  what: string | WorkflowFunction<never>,
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<Pick<WorkflowTerms, 'name' | 'description' | 'script' | 'within' | 'program'>> {
  if (typeof what === 'function') {
    const name = what.name === '' ? 'function' : what.name;
    return { name, description: 'a function of the program', script: '', program: true };
  }
  if (typeof what !== 'string') throw invalid('what to run', 'a script, its name or path, or a function');
  // Imported on first use: only scripts need a parser.
  const { loaded, loadScript, scriptTrust } = await import('../models/workflow/saved-scripts.ts');
  const trust = scriptTrust(env, dataFolder(env));
  const { meta, source, within } = SCRIPT.test(what)
    ? loaded(what, cwd, trust)
    : loadScript(what, cwd, trust);
  return { name: meta.name, description: meta.description, script: source, within };
}

/** As JSON; what that would lose without a word, such as the entries of a Map, is an error. */
function jsonOf(args: unknown): string {
  const lost: string[] = [];
  const look = function (this: Record<string, unknown>, name: string, after: unknown) {
    const kind = Object.prototype.toString.call(this[name]).slice('[object '.length, -1);
    const is_number = kind !== 'Number' || Number.isFinite(Number(after));
    if (!PLAIN.test(kind) ? after === this[name] : !is_number)
      lost.push(`${name === '' ? 'they are' : `"${name}" is`} ${is_number ? `a ${kind}` : after}`);
    return after;
  };
  const text = orElse((): string | undefined => JSON.stringify(args, look), undefined);
  if (text !== undefined && lost.length === 0) return text;
  throw invalid('args', `JSON${lost.length === 0 ? '' : ` (${lost[0]})`}`);
}

const PLAIN = /^(?:Object|Array|String|Number|Boolean|Null|Undefined)$/;

function invalid(what: string, wanted: string): CoppiceError {
  return new CoppiceError('E_INVALID_ARGUMENT', `workflow: ${what} must be ${wanted}`);
}
