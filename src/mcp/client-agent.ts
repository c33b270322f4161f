import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { messagesAfter } from '../documents/messages-after.ts';
import { type Agent, isActive } from '../records/agent/agent.ts';
import { failureOf, isTerminal } from '../records/agent/state.ts';
import { writeClientCall } from '../records/client-call.ts';
import type { ResultContent } from '../records/conversation/message.ts';
import { CoppiceError } from '../records/coppice-error.ts';
import { isProcessGone } from '../store/process-gone.ts';
import type { Worker } from '../store/store.ts';
import { leadOf } from '../trees/leaders/leaders.ts';
import { lookUntil } from '../trees/rest.ts';
import type { McpOptions } from './mcp-options.ts';

/** Minimum time between attempts to take over the same unled tree. */
const LEAD_MS = 5_000;
/** Minimum time that the result of a call is waited for: a call that was given up may still take effect. */
const CALL_MS = 10_000;
/** How long the killed process of the previous connection may take to end, and the poll interval meanwhile. */
const DYING_MS = 300;
const DYING_LOOK_MS = 20;
/** Maximum roots that are searched for those of the client. */
const ROOTS_MAX = 200;
/** Messages read at once: the newest ones of an agent, or a page of those that may contain the result of a call. */
const MESSAGES_MAX = 200;

/** The place of a call and its result in the ledger: enough to find the result after a restart. */
export interface PlacedCall {
  readonly id: string;
  /** The agent that represents the client. */
  readonly root_id: string;
  /** Seq of a message that precedes the result. */
  readonly after: number;
}

/** How long a call may take. */
interface CallLimits {
  /** Default: the minimum, which is `CALL_MS`. */
  readonly ms?: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * An external program as an agent in the ledger: a root whose letters are its calls (`records/client-call.ts`), with a mailbox to which its children
 * report. What the ledger has acknowledged goes on even if this process ends.
 */
export class ClientAgent {
  readonly name: string;
  readonly #options: McpOptions;
  readonly #tried = new Map<string, number>();
  #root: Promise<Agent> | null = null;
  /** `last_seq` of agents whose rest was reported, by id: a newer turn is reported again. */
  readonly told = new Map<string, number>();

  constructor(name: string, options: McpOptions) {
    this.name = name;
    this.#options = options;
  }

  get session_key(): string {
    return `mcp:${this.name}`;
  }

  /** Prefix of the session keys of trees that the client starts. */
  get tree_key(): string {
    return `agent:main:mcp:${this.name}:`;
  }

  /** The agent that represents the client: one that an earlier connection left, or else a new one. */
  root(): Promise<Agent> {
    this.#root ??= this.#find().then((found) => found ?? this.#begin());
    this.#root.catch(() => {
      this.#root = null;
    });
    return this.#root;
  }

  /** Like `root`, but creates nothing: null if there is no such agent yet. */
  async known(): Promise<Agent | null> {
    return (await this.#root) ?? (await this.#find());
  }

  /** The client's root and the trees that it started, those of earlier connections under its name included, newest first. */
  async roots(): Promise<Agent[]> {
    const { store, cwd } = this.#options;
    const found = await store.agents({
      roots: true,
      limit: ROOTS_MAX,
      ...(this.#options.lasting ? {} : { cwd }),
    });
    return found.filter((root) => this.#isOwn(root));
  }

  /** Whether an agent is one of the client's: below its root, or in a tree that it started. */
  async owns({ root_id }: Agent): Promise<boolean> {
    const root = await this.#options.store.agent(root_id);
    return root !== null && this.#isOwn(root);
  }

  #isOwn({ session_key }: Agent): boolean {
    return session_key === this.session_key || session_key.startsWith(this.tree_key);
  }

  /**
   * Carries out a call as this agent. The result is null if there was none in time, or before the signal: the call then remains in the ledger and is carried
   * out later. Rejects with a `CoppiceError` if the call cannot be carried out.
   */
  async call(
    tool: string,
    input: object,
    { ms = CALL_MS, signal }: CallLimits = {},
  ): Promise<PlacedCall & { readonly result: ResultContent | null }> {
    const { runtime, onEntered } = this.#options;
    const root = await this.#living();
    signal?.throwIfAborted();
    const id = randomUUID();
    const placed = { id, root_id: root.id, after: root.last_seq };
    const letter = writeClientCall({ id, tool, input: JSON.stringify(input) });
    await runtime.send(root.id, letter, { id, from: this.name });
    onEntered();
    const look = (): Promise<ResultContent | null> => this.#resultNow(placed);
    const result = await lookUntil(this.#options, look, (found) => found !== null, {
      ms: Math.max(ms, CALL_MS),
      signal,
    });
    return { ...placed, result };
  }

  /**
   * Takes over the trees of these agents, which are the client's, if nobody leads the agents, as after a restart or when a server has stopped; at most once in
   * `LEAD_MS` for each tree. A server finds such trees by itself, and respects its labels.
   */
  async lead(agents: readonly Agent[]): Promise<void> {
    const { runtime, store, env, lasting } = this.#options;
    if (lasting) return;
    const now = performance.now();
    for (const { root_id, worker } of agents) {
      if (worker === runtime.worker_id || now - (this.#tried.get(root_id) ?? -LEAD_MS) < LEAD_MS) continue;
      this.#tried.set(root_id, now);
      if ((await leadOf(store, root_id, env)).by === 'here')
        await runtime.resume(root_id, { unattended: true });
    }
  }

  /** Returns the result of a call; null if there is none yet. */
  async resultOf({ id, root_id, after }: PlacedCall): Promise<ResultContent | null> {
    for await (const { kind, content } of messagesAfter(this.#options.store, root_id, after))
      if (kind === 'result' && content.call_id === id) return content;
    return null;
  }

  /** The agent as the ledger has it now; a new one if it was killed. */
  async #living(): Promise<Agent> {
    const { id } = await this.root();
    const root = await this.#options.store.agent(id);
    if (root !== null && !isTerminal(root.state.type)) return root;
    this.#root = null;
    return this.root();
  }

  /** The result of a call; null while it may still come. Rejects if it will not. */
  async #resultNow(placed: PlacedCall): Promise<ResultContent | null> {
    // Read in the order in which a call changes them (letter, agent, result): whatever was written before an earlier read is seen by the later ones.
    const { store } = this.#options;
    const letters = await store.mail(placed.root_id);
    const root = await store.agent(placed.root_id);
    const result = await this.resultOf(placed);
    if (result !== null) return result;
    if (root === null || isTerminal(root.state.type)) throw ended(this.name);
    if (isActive(root) || letters.some(({ id }) => id === placed.id)) {
      await this.lead([root]).catch(() => undefined);
      return null;
    }
    const why = failureOf(root.state)?.error ?? (root.state.type === 'idle' ? root.state.limit : undefined);
    throw new CoppiceError('E_REFUSED', `the call was not carried out: ${why ?? 'its turn ended before'}`);
  }

  /** The newest agent under the client's name that it may continue as. */
  async #find(): Promise<Agent | null> {
    const { store, runtime, lasting } = this.#options;
    const workers = await store.workers();
    for (const root of await this.roots()) {
      if (root.session_key !== this.session_key || isTerminal(root.state.type)) continue;
      const leader = workers.find(({ id }) => id === root.worker);
      if (leader?.id === runtime.worker_id) return root;
      const is_led = leader !== undefined && !(await isGoneSoon(leader));
      // Another connection of a program with that name leads it.
      if (is_led && leader.role === 'run') continue;
      if (!lasting && !(await this.#hasLeft(root))) continue;
      const { elsewhere } = is_led ? { elsewhere: 1 } : await runtime.resume(root.id, { unattended: true });
      if (elsewhere === 0 || is_led) return root;
    }
    return null;
  }

  async #hasLeft({ id, last_seq }: Agent): Promise<boolean> {
    const { store } = this.#options;
    const agents = await store.agents({ root_id: id, living: true });
    const messages = await store.history(id, Math.max(0, last_seq - MESSAGES_MAX), MESSAGES_MAX);
    // An agent that is only about to continue after a result is not at work: its client disconnected as soon as it had the result.
    const is_done = ({ id: one, state }: Agent) =>
      one === id && state.type === 'requesting' && messages.at(-1)?.kind === 'result';
    if (agents.some((agent) => isActive(agent) && !is_done(agent))) return true;
    if ((await store.mail(id)).length > 0) return true;
    const results = messages.flatMap(({ kind, content }) => (kind === 'result' ? [content] : []));
    return agents.some(({ id: below, parent_id }) => parent_id === id && !wasCollected(below, results));
  }

  async #begin(): Promise<Agent> {
    const { compose, runtime, cwd } = this.#options;
    const { config, limits, placement } = await compose({ cwd });
    return runtime.begin({
      name: this.name,
      session_key: this.session_key,
      config: { ...config, client: this.name },
      limits,
      placement,
    });
  }
}

/** Whether the leader has ended, or does so within `DYING_MS`: after a kill and an immediate restart, the dying process is not another connection. */
async function isGoneSoon(leader: Worker): Promise<boolean> {
  for (const until = performance.now() + DYING_MS; ; await sleep(DYING_LOOK_MS)) {
    if (isProcessGone(leader, hostname())) return true;
    if (leader.role !== 'run' || leader.host !== hostname() || performance.now() > until) return false;
  }
}

/** Whether the newest result that mentions the agent reported its outcome, so that nothing was sent to it since. */
function wasCollected(id: string, results: readonly ResultContent[]): boolean {
  const { facts } = results.findLast(({ output }) => output.includes(id)) ?? {};
  return facts?.waited?.rows.some(({ agent_id, status }) => agent_id === id && status !== 'running') === true;
}

function ended(name: string): CoppiceError {
  return new CoppiceError('E_AGENT_DEAD', `the agent that stands for ${name} was killed`, {
    hint: 'Connect again: a new one is created with the first call',
  });
}
