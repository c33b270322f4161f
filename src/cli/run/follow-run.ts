import { agentJson } from '../../documents/agent-json.ts';
import { killAllProcessGroups } from '../../processes/process-group.ts';
import type { Agent } from '../../records/agent/agent.ts';
import { type Failure, isAboutContent } from '../../records/agent/failure.ts';
import { isWorking } from '../../records/agent/state.ts';
import { cutShort } from '../../records/conversation/child-text.ts';
import { statusWord } from '../../render/agent-status.ts';
import { cleanLines } from '../../render/clean.ts';
import { type DeletedUse, deletedUse } from '../../render/tree-summary.ts';
import type { RuntimeFace, TreeOutcome } from '../../runtime/runtime-face.ts';
import { resumeCommand } from '../../settings/ledger-name.ts';
import type { Store } from '../../store/store.ts';
import type { Context } from '../setup/context.ts';
import { endProcessSoon, onStopSignal } from '../setup/end-process.ts';
import { printJson } from '../setup/output.ts';
import { EXIT, exitCodeOfFailure } from '../start/exit-code.ts';
import { eventLines, liveProgress, type Progress, plainProgress } from './progress.ts';

export interface FollowOptions {
  readonly events?: boolean | undefined;
  readonly timeout_ms?: number | undefined;
  /** False: ends with the first answer of the root. Default true. */
  readonly wait?: boolean | undefined;
  /** Calls that need approval wait for a person. Default false. */
  readonly ask?: boolean | undefined;
  /** The first line of the progress. */
  readonly title: string;
  /** Called when the run has ended by itself, before the ledger is closed. */
  readonly after?: (root: Agent) => Promise<void>;
}

/** Shows a tree while this process leads it, prints the root's reply, and returns the exit code. Closes the runtime and the store. */
export async function followRun(
  context: Context,
  store: Store,
  runtime: RuntimeFace,
  begin: () => Promise<Agent>,
  options: FollowOptions,
): Promise<number> {
  const stop = stopSignal(options.timeout_ms);
  let progress: Progress | null = null;
  let root: Agent | null = null;
  try {
    const early: Parameters<Progress['see']>[0][] = [];
    runtime.subscribe((event) => (progress === null ? early.push(event) : progress.see(event)));
    root = await begin();
    // Counters before agents: an agent created in between must not count as deleted.
    const counters = await store.tree(root.id);
    const known = await runtime.agents(root.id);
    const deleted = deletedUse(counters, known);
    progress = progressOf(context, options, known, root, deleted);
    for (const event of early) progress.see(event);
    const outcome = await Promise.race([
      runtime.settled(root.id, options.wait === false ? 'root' : 'tree'),
      stop.promise,
    ]);
    progress.end();
    if (typeof outcome === 'number') return await stopped(context, options, runtime, root, outcome);
    const code = printOutcome(context, options, outcome);
    if (options.wait === false) tellUnfinished(context, options, outcome);
    await options.after?.(root);
    return code;
  } finally {
    stop.dispose();
    (progress as Progress | null)?.end();
    await runtime.close();
    killAllProcessGroups();
    await store.close();
    endProcessSoon();
  }
}

function progressOf(
  context: Context,
  options: FollowOptions,
  known: readonly Agent[],
  root: Agent,
  deleted: DeletedUse,
): Progress {
  if (options.events) return eventLines();
  const title = `${options.title}  ·  ${root.id.slice(0, 8)}  ·  from another terminal: coppice tree ${root.id.slice(0, 8)}`;
  if (process.stderr.isTTY && context.env.TERM !== 'dumb' && !context.json)
    return liveProgress(process.stderr, context.err, title, known, deleted);
  return plainProgress(process.stderr, title, known, deleted);
}

function printOutcome(context: Context, options: FollowOptions, outcome: TreeOutcome): number {
  const { root, reply, failure, agents } = outcome;
  const limit = cutShort(root.state);
  if (context.json || options.events) {
    const usage = agents.reduce(
      (sum, agent) => ({ input: sum.input + agent.usage.input, output: sum.output + agent.usage.output }),
      { input: 0, output: 0 },
    );
    const error =
      failure === null
        ? null
        : {
            code: failure.kind,
            message: failure.error,
            hint:
              failureHint(failure, resumeCommand(context, root.id, options.ask === true)).join('\n') || null,
            retryable: failure.retryable,
          };
    printJson({
      schema: 'coppice/run/v1',
      id: root.id,
      status: failure === null ? 'done' : 'failed',
      reply,
      error,
      limit,
      usage,
      agents: agents.map((agent) => agentJson(agent)),
    });
    return exitCodeOfFailure(failure);
  }
  if (reply !== '') process.stdout.write(`${process.stdout.isTTY ? cleanLines(reply) : reply}\n`);
  if (limit !== null) process.stderr.write(`cut short: ${cleanLines(limit)}\n`);
  if (failure !== null) {
    process.stderr.write(`error: the run stopped: ${cleanLines(failure.error)} (${failure.kind})\n`);
    for (const row of failureHint(failure, resumeCommand(context, root.id, options.ask === true)))
      process.stderr.write(`  ${row}\n`);
  }
  return exitCodeOfFailure(failure);
}

/** Says what `--no-wait` leaves in the ledger. */
function tellUnfinished(context: Context, options: FollowOptions, { root, agents }: TreeOutcome): void {
  const working = agents.filter((agent) => isWorking(agent.state.type)).length;
  const queued = agents.filter((agent) => statusWord(agent) === 'queued').length;
  if (working + queued === 0) return;
  const parts = [...(working > 0 ? [`${working} at work`] : []), ...(queued > 0 ? [`${queued} queued`] : [])];
  process.stderr.write(
    `left undone: ${parts.join(', ')}; nothing is lost, go on with: ${resumeCommand(context, root.id, options.ask === true)}\n`,
  );
}

async function stopped(
  context: Context,
  options: FollowOptions,
  runtime: RuntimeFace,
  root: Agent,
  code: number,
): Promise<number> {
  await runtime.close();
  const timed_out = code === EXIT.timeout;
  const why = timed_out ? 'time is up' : 'stopped';
  const next = `go on with: ${resumeCommand(context, root.id, options.ask === true)}`;
  if (context.json)
    printJson({
      schema: 'coppice/run/v1',
      id: root.id,
      status: 'stopped',
      reply: root.reply,
      error: { code: timed_out ? 'timed_out' : 'interrupted', message: why, hint: next, retryable: true },
    });
  process.stderr.write(`${why}; nothing is lost, ${next}\n`);
  return code;
}

/** Resolves with an exit code at the first signal or when the time is up. */
function stopSignal(timeout_ms: number | undefined): { promise: Promise<number>; dispose: () => void } {
  const { promise, resolve } = Promise.withResolvers<number>();
  const remove = onStopSignal((_, code) => resolve(code));
  const timer = timeout_ms === undefined ? undefined : setTimeout(() => resolve(EXIT.timeout), timeout_ms);
  return {
    promise,
    dispose: () => {
      clearTimeout(timer);
      remove();
    },
  };
}

/** What a person can do about a failure, in lines; none where its own text says it. `resume`: the command that resumes its tree. */
function failureHint({ kind, retryable }: Failure, resume: string): string[] {
  const another = `Or with another model: ${resume} --model PROVIDER/MODEL`;
  if (kind === 'auth')
    return [`Check the key (coppice doctor names its variable), then: ${resume} --retry`, another];
  if (kind === 'no_credit') return [`Pay in at the provider, then: ${resume} --retry`, another];
  // A plain retry would hit the same limit.
  if (kind === 'limit' && retryable) return [`Go on with: ${resume} --limit NAME=N`];
  if (kind === 'refused') return [`Ask again: ${resume} --retry`, withoutLast(resume), another];
  if (isAboutContent(kind)) return [withoutLast(resume), another];
  if (kind === 'cut' || kind === 'empty') return [`Ask again: ${resume} --retry`, another];
  return retryable ? [`Go on with: ${resume} --retry`] : [];
}

function withoutLast(resume: string): string {
  return `Without the refused message (the newest, where none is named), which stays in the scrollback; again: one more: ${resume} --without-last`;
}
