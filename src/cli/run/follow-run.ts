import { agentJson } from '../../documents/agent-json.ts';
import type { AgentDocument } from '../../documents/shapes/agent-parts.ts';
import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import type { ToolsetTerms } from '../../kernel/toolsets/toolset-terms.ts';
import type { Agent, Tree } from '../../records/agent/agent.ts';
import { deniedCalls, deniedIn, deniedLine } from '../../records/agent/denied.ts';
import { type FailureKind, isAboutContent } from '../../records/agent/failure.ts';
import { namedLimit } from '../../records/agent/limits.ts';
import { isWorking } from '../../records/agent/state.ts';
import { goingOn, type Outcome, outcomeOf, textAlone, treeOutcome } from '../../records/run/outcome.ts';
import { clean, cleanLines } from '../../render/clean.ts';
import { deletedUse } from '../../render/tree-summary.ts';
import type { RuntimeFace } from '../../runtime/runtime-face.ts';
import { resumeCommand, sameLedgerFlags } from '../../settings/suggested-command.ts';
import type { Store } from '../../store/store.ts';
import { isServed } from '../../trees/leaders/leaders.ts';
import { workflowFailure } from '../../trees/workflow/workflow-failure.ts';
import { markRead } from '../../tui/overview/overview-source.ts';
import { composeTerms } from '../setup/compose-config.ts';
import { composeRuntime, type RuntimeTerms } from '../setup/compose-runtime.ts';
import type { Context } from '../setup/context.ts';
import { closeStore, onStopSignal } from '../setup/end-process.ts';
import { tellUndeliveredOf } from '../setup/no-server-notices.ts';
import { printJson, printResult } from '../setup/output.ts';
import { EXIT, exitCodeOf } from '../start/exit-code.ts';
import { standstillOf, stoppedRun } from './ending/stopped-run.ts';
import { liveProgress, type Progress, plainProgress, type ShownEvent, shownEvent } from './progress.ts';

/** The flags of every command that follows a run. */
export interface FollowFlags {
  readonly events?: boolean | undefined;
  /** Seconds. */
  readonly timeout?: number | undefined;
  /** Whether to wait for the whole tree; false ends with the first answer of the root. Default true. */
  readonly wait?: boolean | undefined;
  /** Whether calls that need approval wait for a person. Default false. */
  readonly ask?: boolean | undefined;
}

export interface FollowOptions extends FollowFlags {
  /** The first line of the progress. */
  readonly title: string;
  /** When the root had changed last before it was taken over: an answer of that time is not printed again. */
  readonly since?: () => string;
  /** Agents that ask their provider again because of this process, by id: when something had last happened to them before. */
  readonly tried?: () => ReadonlyMap<string, string>;
  /** What is printed when the run has ended by itself, instead of its reply. */
  readonly result?: (root_id: string) => Promise<{ readonly document: object; readonly lines: string[] }>;
}

/** A tree that is followed, wherever it is led. */
export interface Followed {
  /** Starts or resumes the tree; `see` receives later events, each with the line that `--events` prints. Resolves to the current state of the tree. */
  readonly begin: (see: (event: ShownEvent, line: object) => void) => Promise<FollowedTree>;
  /** Resolves to the agents of the tree when none is at work any more; with `root`, when the root's turn has ended. */
  readonly settled: (root_id: string, until: 'tree' | 'root') => Promise<readonly AgentDocument[]>;
  /** Tells how to go on after this process has stopped following. */
  readonly next: (root_id: string) => string;
  /** Leaves a tree that waits for a provider to a running server or worker; resolves to whether there is one. */
  readonly handOver?: (root_id: string) => Promise<boolean>;
  /** Called when the run has ended by itself. */
  readonly after?: (root_id: string) => Promise<void>;
  /** What failed below a run that is a success itself, where that makes it none: one line. */
  readonly failure?: (root_id: string) => Promise<string | null>;
  /** Stops following; agents that this process leads then wait in the ledger. */
  readonly close: () => Promise<void>;
}

export interface FollowedTree {
  readonly root_id: string;
  readonly tree: Pick<Tree, 'total' | 'tokens' | 'cost_usd'> | null;
  readonly agents: readonly AgentDocument[];
}

/** A run that this process leads. */
export interface LedRun extends FollowOptions, Pick<RuntimeTerms, 'extra'> {
  /** Default: those of the configuration. */
  readonly terms?: ToolsetTerms;
  readonly begin: (runtime: RuntimeFace) => Promise<Agent>;
  readonly failure?: Followed['failure'];
}

/**
 * Opens the ledger and a runtime, shows a tree while this process leads it, prints the root's reply, and returns the exit code. Closes both. `prepare` may
 * resolve to an exit code instead of a run.
 */
export async function leadRun(
  context: Context,
  prepare: (store: Store) => Promise<LedRun | number>,
): Promise<number> {
  const store = await context.openStore();
  try {
    const prepared = await prepare(store);
    if (typeof prepared === 'number') return prepared;
    const { begin, terms = composeTerms(context), extra, failure, ...options } = prepared;
    const runtime = await composeRuntime(context, store, terms, { extra, can_ask: options.ask === true });
    const led: Followed = {
      begin: async (see) => {
        let tree_id: string | undefined;
        runtime.subscribe((event) => {
          // Trees that continue for a what-if have an agent of its tree each.
          const of = event.type === 'agent' ? event.agent : event.type === 'mail' ? event.mail : undefined;
          if (of !== undefined && of.root_id !== (tree_id ?? of.root_id)) return;
          const agent = event.type === 'agent' && { ...event.agent, ...outcomeOf(event.agent) };
          see(shownEvent(event), agent ? { ...event, agent } : event);
        });
        const { id } = await begin(runtime);
        tree_id = id;
        // Counters before agents: an agent created in between must not count as deleted.
        const tree = await store.tree(id);
        return { root_id: id, tree, agents: (await runtime.agents(id)).map((agent) => agentJson(agent)) };
      },
      settled: async (root_id, until) =>
        (await runtime.settled(root_id, until)).agents.map((agent) => agentJson(agent)),
      next: (root_id) => {
        store.assertThere();
        return `continue with: ${resumeCommand(context, root_id, options.ask === true)}`;
      },
      handOver: async (root_id) => {
        // Elsewhere than on this machine, the tree's folder may not be there.
        if (store.kind !== 'sqlite' || !(await isServed(store, []))) return false;
        await store.serveTree(root_id);
        return true;
      },
      after: (root_id) => tellUndeliveredOf(context, store, root_id),
      failure: failure ?? ((root_id) => workflowFailure(store, root_id)),
      close: () => runtime.close(),
    };
    return await followRun(context, led, options);
  } finally {
    await closeStore(store);
  }
}

/** Shows a tree while it is at work, prints the root's reply, and returns the exit code. */
export async function followRun(context: Context, run: Followed, options: FollowOptions): Promise<number> {
  const stop = stopSignal(options.timeout);
  const newest = new Map<string, AgentDocument>();
  let standstill: ReturnType<typeof standstillOf> | undefined;
  let progress: Progress | null = null;
  try {
    const early: ShownEvent[] = [];
    const keep = (agent: AgentDocument): void => {
      if (agent.updated_at >= (newest.get(agent.id)?.updated_at ?? '')) newest.set(agent.id, agent);
    };
    const { root_id, tree, agents } = await run.begin((event, line) => {
      if (event.agent !== undefined) keep(event.agent);
      if (options.events === true) printJson(line);
      else if (progress === null) early.push(event);
      else progress.see(event);
    });
    for (const agent of agents) keep(agent);
    standstill = standstillOf(newest, options.tried?.());
    progress = progressOf(context, options, root_id, agents, tree);
    for (const event of early) progress.see(event);
    const settled = await Promise.race([
      standstill.promise,
      run.settled(root_id, options.wait === false ? 'root' : 'tree'),
      stop.promise,
    ]);
    // With a server, these agents may arrive before the events that report their state.
    const is_settled = typeof settled !== 'number' && !('id' in settled);
    if (is_settled) for (const agent of settled) progress.see({ agent });
    progress.end();
    const resume = resumeCommand(context, root_id, options.ask === true);
    if (!is_settled) {
      const led_on = typeof settled !== 'number' && ((await run.handOver?.(root_id)) ?? false);
      await run.close();
      const { spent, waits_for } = (typeof settled === 'number' ? null : settled.paused) ?? {};
      const goes_on = led_on ? 'a server or worker goes on with it by itself' : run.next(root_id);
      const by_other = spent !== undefined && (led_on || context.server !== null);
      const how_on =
        spent === 'person'
          ? `continue with: ${waits_for}${options.ask === true ? ' --ask' : ''}${sameLedgerFlags(context)}`
          : `${goes_on}${by_other ? `; you go on with: ${resume}` : ''}`;
      const as_json = context.json || options.events === true;
      return stoppedRun(
        as_json,
        newest.get(root_id) ?? { id: root_id, last_reply: null },
        settled,
        how_on,
        toldDenied(newest.values()),
      );
    }
    const root = settled.find(({ id }) => id === root_id);
    if (root === undefined) throw new Error(`the root ${root_id} is not among its agents`);
    const told_outcome = options.wait === false ? root : treeOutcome(root_id, settled);
    const how_on = told_outcome.how_on?.replace(`coppice resume ${root_id.slice(0, 8)}`, () => resume);
    const { outcome } = told_outcome;
    const ended = goingOn({ outcome, outcome_text: textAlone(told_outcome) }, how_on);
    const { outcome_text } = ended;
    const hint = hintsOf(root, resume);
    const is_old = root.updated_at === options.since?.() && !context.json && options.events !== true;
    const told = is_old ? { ...root, last_reply: null } : root;
    const own = outcome === 'done' ? await options.result?.(root_id) : undefined;
    if (own === undefined) printReply(context, options, told, settled, ended, hint);
    else printResult(context, own.document, () => own.lines);
    if (is_old && root.error === null)
      process.stderr.write(
        context.hint(`nothing new; its last answer: coppice show ${root_id.slice(0, 8)}\n`),
      );
    if (process.stdout.isTTY) markRead(context, root_id, settled);
    if (options.wait === false) tellUnfinished(run, root_id, settled);
    await run.after?.(root_id);
    if (outcome_text !== outcome)
      process.stderr.write(`${[outcome_text, ...hint].map(clean).join('\n  ')}\n`);
    const failure = (await run.failure?.(root_id)) ?? null;
    if (failure !== null) process.stderr.write(context.hint(`${clean(failure)}\n`));
    return exitCodeOf(ended, root.error) || (failure === null ? EXIT.done : EXIT.failed);
  } finally {
    standstill?.dispose();
    stop.dispose();
    (progress as Progress | null)?.end();
    await run.close();
  }
}

/** Calls that were denied, for the document; reported on stderr too, unless the last line will say the same. */
function toldDenied(agents: Iterable<AgentDocument>, last = ''): DocumentOf<'coppice/run/v1'>['denied'] {
  const rules = deniedIn(...[...agents].map(({ deeds }) => deeds?.denied));
  const line = deniedLine(rules);
  if (line !== null && !last.includes(line)) process.stderr.write(`${clean(line)}\n`);
  return { calls: deniedCalls(rules), rules };
}

const NO_PROGRESS: Progress = { see: () => undefined, end: () => undefined };

function progressOf(
  context: Context,
  options: FollowOptions,
  root_id: string,
  known: readonly AgentDocument[],
  tree: FollowedTree['tree'],
): Progress {
  if (options.events) return NO_PROGRESS;
  const deleted = deletedUse(tree, known);
  const short = root_id.slice(0, 8);
  const elsewhere = context.hint(`from another terminal: coppice tree ${short}`);
  const title = `${options.title}  ·  ${short}  ·  ${elsewhere}`;
  if (process.stderr.isTTY && context.env.TERM !== 'dumb' && !context.json)
    return liveProgress(process.stderr, context.err, title, known, deleted, context.hint);
  return plainProgress(process.stderr, title, known, deleted, context.hint);
}

/** Prints the reply, or the document. */
function printReply(
  context: Context,
  options: FollowOptions,
  root: AgentDocument,
  agents: readonly AgentDocument[],
  ended: Outcome,
  hint: readonly string[],
): void {
  const { error, limit } = root;
  const reply = root.last_reply ?? '';
  if (context.json || options.events) {
    const usage = agents.reduce(
      (sum, { tokens }) => ({ input: sum.input + tokens.input, output: sum.output + tokens.output }),
      { input: 0, output: 0 },
    );
    printJson({
      schema: 'coppice/run/v1',
      id: root.id,
      ...ended,
      status: error === null ? 'done' : 'failed',
      reply,
      error: error && {
        code: error.kind,
        message: error.message,
        hint: hint.join('\n') || null,
        retryable: error.retryable,
      },
      limit,
      usage,
      denied: toldDenied(agents, ended.outcome_text),
      agents,
    });
    return;
  }
  if (reply !== '') process.stdout.write(`${process.stdout.isTTY ? cleanLines(reply) : reply}\n`);
  toldDenied(agents, ended.outcome_text);
}

/** Reports the work that `--no-wait` leaves in the ledger. */
function tellUnfinished(run: Followed, root_id: string, agents: readonly AgentDocument[]): void {
  const working = agents.filter((agent) => isWorking(agent.state)).length;
  const queued = agents.filter((agent) => agent.status === 'queued').length;
  if (working + queued === 0) return;
  const parts = [...(working > 0 ? [`${working} at work`] : []), ...(queued > 0 ? [`${queued} queued`] : [])];
  process.stderr.write(`unfinished: ${parts.join(', ')}; nothing is lost, ${run.next(root_id)}\n`);
}

/** Resolves with an exit code at the first signal or when the time is up. */
function stopSignal(timeout_s: number | undefined): { promise: Promise<number>; dispose: () => void } {
  const { promise, resolve } = Promise.withResolvers<number>();
  const remove = onStopSignal((_, code) => resolve(code));
  const timer =
    timeout_s === undefined ? undefined : setTimeout(() => resolve(EXIT.timeout), timeout_s * 1000);
  return {
    promise,
    dispose: () => {
      clearTimeout(timer);
      remove();
    },
  };
}

/** Returns lines on what a person can do about how the root ended; none where its outcome says it. `resume`: the command that resumes its tree. */
function hintsOf({ error, ended_at }: AgentDocument, resume: string): string[] {
  // The agent of a run that has ended cannot be resumed. A plain retry would hit the same limit.
  if (ended_at !== null || error === null || namedLimit(error.message) !== null) return [];
  const { kind, retryable } = error;
  const another = `Or with another model: ${resume} --model PROVIDER/MODEL`;
  if (kind === 'auth')
    return [`Check the key (coppice doctor names its variable), then: ${resume} --retry`, another];
  if (kind === 'no_model') return [`Once the model is there: ${resume} --retry`, another];
  if (kind === 'no_tools')
    return [
      `Start the server with tools (vLLM: --enable-auto-tool-choice), or leave out the tool that it names, then: ${resume} --retry`,
      another,
    ];
  if (kind === 'no_credit') return [`Add credit at the provider, then: ${resume} --retry`, another];
  if (kind === 'refused') return [`Ask again: ${resume} --retry`, withoutLast(resume), another];
  if (isAboutContent(kind as FailureKind)) return [withoutLast(resume), another];
  if (kind === 'cut' || kind === 'empty') return [`Ask again: ${resume} --retry`, another];
  if (kind === 'network' && !retryable) return [`Once that is set right: ${resume} --retry`, another];
  return retryable ? [`Continue with: ${resume} --retry`] : [];
}

function withoutLast(resume: string): string {
  return `Continue without the rejected message (the newest one if none is named), which stays in the scrollback; repeat to leave out one more: ${resume} --without-last`;
}
