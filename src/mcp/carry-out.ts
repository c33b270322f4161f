import { randomUUID } from 'node:crypto';
import type * as z from 'zod';
import { readArguments } from '../kernel/reading/read-arguments.ts';
import { modelFault } from '../kernel/toolsets/acts/task-options.ts';
import { parseMeant } from '../kernel/toolsets/arguments.ts';
import { clientToolset } from '../kernel/toolsets/mcp-client.ts';
import type { LoadedScript } from '../models/workflow/saved-scripts.ts';
import { containPath } from '../permissions/path-containment.ts';
import type { Agent } from '../records/agent/agent.ts';
import { nameFault, nameOfTask, storedName } from '../records/agent/agent-name.ts';
import type { Limits } from '../records/agent/limits.ts';
import { isTerminal } from '../records/agent/state.ts';
import type { Ask } from '../records/conversation/ask.ts';
import { fieldsOf } from '../records/text/json-fields.ts';
import { clean } from '../render/clean.ts';
import type { WorkflowSteer } from '../runtime/runtime-face.ts';
import { isNotFound, oneAgent } from '../trees/find-agent.ts';
import { rerunWorkflow } from '../trees/workflow/rerun-run.ts';
import { retryAgent, skipAgent, steerRun } from '../trees/workflow/steer-runs.ts';
import { notStarted, workflowRoot, workflowVerdict } from '../trees/workflow/workflow-root.ts';
import type { ClientAgent, PlacedCall } from './client-agent.ts';
import { cancelTask, taskOfCall, taskOfTree } from './durable-tasks.ts';
import { listedAgent } from './listed-agents.ts';
import type { ComposedRoot, McpOptions } from './mcp-options.ts';
import {
  errorResult,
  invalidParams,
  notCarriedOut,
  refused,
  type ToolAnswer,
  textResult,
} from './tool-answer.ts';
import { listInput, startTreeInput, steerInput, waitInput, workflowInput } from './tool-list.ts';
import { type Look, rowsOf, sendersOf, unfinished, waitFor } from './wait-tool.ts';

/** The outcome of a tool call. */
export type Outcome =
  | { readonly type: 'answer'; readonly answer: ToolAnswer }
  /** A task whose result the client collects later. */
  | { readonly type: 'task'; readonly task_id: string }
  /** The client's user must answer first; then the call goes on waiting for these agents. */
  | { readonly type: 'ask'; readonly asks: readonly Ask[]; readonly ids: readonly string[] };

/** The client's capabilities, and its connection during the call. */
export interface CallTerms {
  /** Whether the client supports the tasks extension. */
  readonly has_tasks: boolean;
  /** Whether the client can show forms to its user. */
  readonly elicits: boolean;
  readonly signal: AbortSignal;
  /** Whether the client has cancelled the call; it may also only have lost its connection. */
  readonly isCancelled: () => boolean;
  readonly onLook: (now: Look) => void;
}

/** Maximum characters of a call that an error repeats. */
const SHOWN_MAX = 100;
const TOOLSET = new Set(clientToolset.tools.map(({ spec }) => spec.name));

/** Carries out tool calls. Rejects with a `CoppiceError`, or with a `ProtocolError` for an unknown tool. */
export class Calls {
  readonly #client: ClientAgent;
  readonly #options: McpOptions;

  constructor(client: ClientAgent, options: McpOptions) {
    this.#client = client;
    this.#options = options;
  }

  async carryOut(name: string, input: Readonly<Record<string, unknown>>, terms: CallTerms): Promise<Outcome> {
    switch (name) {
      case 'start_tree':
        return this.#checked(name, startTreeInput, input, async (given) => {
          const root = await this.#startTree(given);
          return 'id' in root ? this.#started(root, terms) : { type: 'answer', answer: root };
        });
      case 'wait':
        return this.#checked(name, waitInput, input, ({ timeout, from_agents }) =>
          this.#wait(timeout ?? this.#options.wait_ms / 1_000, from_agents ?? null, terms),
        );
      case 'list_agents':
        return this.#checked(name, listInput, input, async ({ all }) =>
          answer(await this.#list(all === true)),
        );
      case 'steer_workflow':
        return this.#checked(name, steerInput, input, async (given) => answer(await this.#steer(given)));
      case 'send':
      case 'kill': {
        const elsewhere = await this.#inOwnTree(name, input);
        if (elsewhere !== null) return answer(elsewhere);
        break;
      }
    }
    // Imported once such a tool is called, or tools are listed.
    const script = TOOLSET.has(name)
      ? null
      : await (await import('./workflow-tools.ts')).workflowNamed(name, this.#options);
    if (script !== null)
      return this.#checked(name, workflowInput, input, async (given) =>
        this.#started(await this.#startWorkflow(script, given), terms),
      );
    if (!TOOLSET.has(name))
      throw invalidParams(`there is no tool "${clean(name.slice(0, SHOWN_MAX))}"; tools/list names all`);
    const { wait_ms: ms } = this.#options;
    const until = performance.now() + ms;
    const has_results = name === 'spawn_agents' || name === 'subagent_delegate';
    // Only the result says which agents a cancelled call has created.
    const signal = has_results ? undefined : terms.signal;
    const called = await this.#client.call(name, input, { ms, signal });
    const { result } = called;
    if (has_results && terms.isCancelled()) return this.#stopped(called);
    if (result !== null && result.status !== 'ok')
      return { type: 'answer', answer: errorResult(result.output) };
    if (has_results && terms.has_tasks) return { type: 'task', task_id: taskOfCall(called) };
    if (result === null) return { type: 'answer', answer: notCarriedOut() };
    if (!has_results) return answer(JSON.parse(result.output));
    const left = Math.max(0, until - performance.now());
    const outcome = await this.awaited(result.facts?.created ?? [], terms, left);
    return terms.isCancelled() ? this.#stopped(called) : outcome;
  }

  /** Nobody else waits for the agents of a cancelled call, or knows their ids. */
  async #stopped(called: PlacedCall): Promise<Outcome> {
    await cancelTask(this.#client, taskOfCall(called), this.#options);
    return cancelled();
  }

  /** Waits until these agents rest, but at most `ms` milliseconds; ends early if an approval is open and the client can show forms. */
  async awaited(ids: readonly string[], terms: CallTerms, ms = this.#options.wait_ms): Promise<Outcome> {
    const waited = await waitFor(this.#client, ids, this.#options, { ...terms, ms });
    const early = earlyEnd(ids, waited, terms);
    if (early !== null) return early;
    const results = await rowsOf(this.#client, ids, waited, this.#options, terms.signal);
    return answer({ results, ...unfinished(waited, ids.length) });
  }

  async #startTree({
    prompt,
    name,
    cwd,
    budget,
    ...wanted
  }: z.infer<typeof startTreeInput>): Promise<Agent | ToolAnswer> {
    const { compose, terms, cwd: base } = this.#options;
    const called = name ?? nameOfTask(prompt, null);
    const fault = nameFault(called);
    if (fault !== null) return refused('INVALID_ARG', `field "name": ${fault}`);
    const own = await compose({ cwd: base });
    const unfit = modelFault(wanted.model, () => [own.config.model], terms);
    if (unfit !== null) return refused('INVALID_ARG', `field "model": ${unfit}`);
    const folder = folderIn(base, cwd ?? '.');
    if (typeof folder !== 'string') return folder;
    const composed = await compose({
      model: wanted.model ?? undefined,
      profile: wanted.profile ?? undefined,
      ...{ cwd: folder, limits: limitsOf(budget) },
    });
    return this.#begin({ ...composed, name: storedName(called), prompt });
  }

  async #startWorkflow(
    script: LoadedScript,
    { args, budget }: z.infer<typeof workflowInput>,
  ): Promise<Agent> {
    const composed = await this.#options.compose({ cwd: this.#options.cwd, limits: limitsOf(budget) });
    // A client is no person, and cannot say so.
    if (workflowVerdict(composed.config, script) !== 'allow')
      throw notStarted(script.meta.name, 'no rule allows it, and whoever starts `coppice mcp` may give one');
    const given = args === undefined ? undefined : JSON.stringify(args);
    return this.#begin(workflowRoot(composed, script, { args: given }));
  }

  async #steer({ agent_id, order, fresh }: z.infer<typeof steerInput>): Promise<object> {
    const { store, onEntered } = this.#options;
    const { id } = await this.#find(agent_id);
    if (order === 'rerun') {
      const { placement } = await this.#options.compose({ cwd: this.#options.cwd });
      const again = await this.#begin({ ...(await rerunWorkflow(store, id, { fresh })), placement });
      return { agent_id: again.id, name: again.name };
    }
    const how = { skip: skipAgent, retry: retryAgent }[order as string];
    const { root_id, led } = await (how?.(this.#options, id) ??
      steerRun(this.#options, id, order as WorkflowSteer));
    if (order === 'resume' && !led) await store.serveTree(root_id);
    onEntered();
    return { agent_id: id, ordered: order };
  }

  /** Begins a tree of the client with a letter of the client. */
  async #begin({
    name,
    prompt,
    ...root
  }: ComposedRoot & { readonly name: string; readonly prompt: string }): Promise<Agent> {
    const { runtime, onEntered } = this.#options;
    const session_key = `${this.#client.tree_key}${randomUUID()}`;
    const begun = await runtime.begin({ name, session_key, ...root });
    await runtime.send(begun.id, prompt, { from: this.#client.name });
    onEntered();
    return begun;
  }

  #started({ id }: Agent, terms: CallTerms): Promise<Outcome> | Outcome {
    return terms.has_tasks ? { type: 'task', task_id: taskOfTree(id) } : this.awaited([id], terms);
  }

  async #wait(seconds: number, from: readonly string[] | null, terms: CallTerms): Promise<Outcome> {
    const ms = Math.min(seconds * 1_000, this.#options.wait_ms);
    if (from === null) return this.#waitForNews(ms, terms);
    const ids: string[] = [];
    for (const text of from) {
      const { id } = await this.#find(text);
      if (!ids.includes(id)) ids.push(id);
    }
    return this.awaited(ids, terms, ms);
  }

  /** Waits for the next message, or for the next agent that comes to rest. */
  async #waitForNews(ms: number, terms: CallTerms): Promise<Outcome> {
    const { store } = this.#options;
    const root = await this.#client.root();
    const watched = async (): Promise<Agent[]> => [
      ...(await store.agents({ parent_id: root.id })),
      ...(await this.#client.roots()).filter(
        ({ id, session_key }) => id !== root.id && session_key.startsWith(this.#client.tree_key),
      ),
    ];
    const news = async ({ open }: Look): Promise<Agent[]> => {
      const senders = sendersOf(await store.mail(root.id));
      const agents = await watched();
      const writers = await Promise.all([...senders].map((id) => store.agent(id)));
      const others = writers.filter(
        (one) => one !== null && !agents.some(({ id }) => id === one.id),
      ) as Agent[];
      return [...agents, ...others].filter(
        (agent) =>
          senders.has(agent.id) ||
          (!open.some(({ id }) => id === agent.id) && this.#client.told.get(agent.id) !== agent.last_seq),
      );
    };
    const ids = (await watched()).map(({ id }) => id);
    const until = async (now: Look) => now.open.length === 0 || (await news(now)).length > 0;
    const waited = await waitFor(this.#client, ids, this.#options, { ...terms, ms, until });
    const fresh = await news(waited);
    const early = earlyEnd(ids, waited, terms);
    if (early !== null && (terms.signal.aborted || fresh.length === 0)) return early;
    const told = fresh.map(({ id }) => id);
    const results = await rowsOf(this.#client, told, waited, this.#options, terms.signal);
    for (const { id, last_seq } of fresh) this.#client.told.set(id, last_seq);
    const running = waited.open.map(({ id, name }) => ({ agent_id: id, name }));
    return answer({
      results,
      ...(running.length === 0 ? {} : { running }),
      ...(fresh.length === 0 ? { status: ids.length === 0 ? 'no_agents' : 'timeout' } : {}),
    });
  }

  async #list(all: boolean): Promise<object> {
    const { store } = this.#options;
    const root = await this.#client.known();
    const roots = (await this.#client.roots()).filter(
      (one) => one.id === root?.id || all || !isTerminal(one.state.type),
    );
    const agents: object[] = [];
    for (const one of all ? roots : roots.slice(0, 50)) {
      const tree = await store.agents({ root_id: one.id, ...(all ? {} : { living: true }) });
      const asks = await store.asks({ root_id: one.id, open: true });
      for (const agent of tree.toReversed())
        if (agent.config.client === undefined) agents.push(listedAgent(agent, asks));
    }
    return { you: { ...(root === null ? {} : { agent_id: root.id }), name: this.#client.name }, agents };
  }

  /** Carries out `send` and `kill` for agents in trees that the client started. Null for all others: the kernel decides. */
  async #inOwnTree(name: 'send' | 'kill', input: Readonly<Record<string, unknown>>): Promise<object | null> {
    const { store, runtime } = this.#options;
    const spec = clientToolset.tools.find((tool) => tool.spec.name === name)?.spec;
    const read = spec && readArguments({ ...spec, own: true }, input).input;
    const { message, ...given } = fieldsOf(read ?? input);
    const target = given[name === 'send' ? 'to' : 'agent_id'];
    if (typeof target !== 'string') return null;
    const root = await this.#client.known();
    if (root !== null && (await store.find(target, root.id)).length > 0) return null;
    const found = await this.#find(target).catch((error: unknown) => {
      if (isNotFound(error)) return null;
      throw error;
    });
    if (found === null || found.root_id === root?.id) return null;
    if (name === 'kill') return { killed: await runtime.kill(found.id, this.#client.name) };
    if (typeof message !== 'string' || message.trim() === '') return null;
    await runtime.send(found.id, message, { from: this.#client.name });
    this.#options.onEntered();
    return { sent_to: found.id, name: found.name };
  }

  /** Returns the client's agent with this id, unique id prefix or name. Rejects if none or several match. */
  #find(text: string): Promise<Agent> {
    const { store } = this.#options;
    const find = async (called: string): Promise<Agent[]> => {
      const root = await this.#client.known();
      const near = root === null ? [] : await store.find(called, root.id);
      const found: Agent[] = [];
      for (const agent of near.length > 0 ? near : await store.find(called))
        if (agent.config.client === undefined && (await this.#client.owns(agent))) found.push(agent);
      return found;
    };
    const shown = clean(text.slice(0, SHOWN_MAX));
    return oneAgent({ find: () => find(text) }, shown, {
      where: ' of yours',
      list: 'list_agents lists them.',
    });
  }

  async #checked<T>(
    name: string,
    schema: z.ZodType<T>,
    input: unknown,
    work: (value: T) => Promise<Outcome>,
  ): Promise<Outcome> {
    const parsed = parseMeant(name, schema, input);
    if (parsed.ok) return work(parsed.value);
    return { type: 'answer', answer: refused('INVALID_ARG', parsed.message) };
  }
}

function limitsOf(budget: z.infer<typeof workflowInput>['budget']): Partial<Limits> {
  return {
    ...(budget?.tokens ? { tokens: budget.tokens } : {}),
    ...(budget?.usd ? { cost_usd: budget.usd } : {}),
    ...(budget?.seconds ? { run_ms: budget.seconds * 1_000 } : {}),
  };
}

function answer(value: object): Outcome {
  return { type: 'answer', answer: textResult(value) };
}

/** The answer to a call whose wait has ended before its agents rest, because it was cancelled or the client's user must answer first; null otherwise. */
function earlyEnd(
  ids: readonly string[],
  { open, asks }: Look,
  { signal, elicits }: CallTerms,
): Outcome | null {
  if (signal.aborted) return cancelled();
  return elicits && open.length > 0 && asks.length > 0 ? { type: 'ask', asks, ids } : null;
}

/** A cancelled call has no reader: what it would collect remains for the next one. */
function cancelled(): Outcome {
  return answer({ results: [] });
}

function folderIn(base: string, path: string): string | ToolAnswer {
  try {
    return containPath(base, path).absolute;
  } catch (error) {
    return refused('INVALID_ARG', `field "cwd": ${(error as Error).message}`);
  }
}
