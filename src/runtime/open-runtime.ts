import type { Order } from '../kernel/mailbox/read-mail.ts';
import { DEFAULT_TERMS } from '../kernel/toolsets/toolset-terms.ts';
import type { WorldEffect } from '../kernel/turn/advance-result.ts';
import { type Agent, type AgentConfig, idleRoot } from '../records/agent/agent.ts';
import { nameFault } from '../records/agent/agent-name.ts';
import { type AgentState, isTerminal, newTurn } from '../records/agent/state.ts';
import { CoppiceError } from '../records/coppice-error.ts';
import type { NewAgent } from '../records/run/new-agent.ts';
import { storable } from '../records/text/text.ts';
import type { RootTerms, Store } from '../store/store.ts';
import { type Cell, stopWork } from './executor/cell.ts';
import { Executor } from './executor/executor.ts';
import { AgentTimers } from './leading/agent-timers.ts';
import { LeaseKeeper } from './leading/lease-keeper.ts';
import { ledgerTime } from './leading/ledger-time.ts';
import { Quiescence } from './leading/quiescence.ts';
import { StoppedClocks } from './leading/stopped-clocks.ts';
import { releaseTree, takeOver } from './leading/take-over.ts';
import { UnattendedTrees } from './leading/unattended-trees.ts';
import { checkedConfig, checkedLimits } from './orders/checked-options.ts';
import { HumanOrders } from './orders/human-orders.ts';
import { promptWithHooks } from './performing/asking/agent-hooks.ts';
import { awaitProvider, closeDoors } from './performing/await-provider.ts';
import type { EarlierRuns } from './performing/earlier-run.ts';
import { ModelCache } from './performing/model-cache.ts';
import { performCall } from './performing/perform-call.ts';
import { performRequest } from './performing/perform-request.ts';
import { createRecallTool } from './performing/recall-tool.ts';
import { mayCreate, resolveNeed } from './performing/resolve-need.ts';
import { SpillCleanup } from './performing/spill-cleanup.ts';
import type { RuntimeEvent } from './runtime-event.ts';
import type { RestOptions, ResumeOptions, RuntimeFace, StartOptions } from './runtime-face.ts';
import { idSequence, type OpenOptions, type RuntimeOptions } from './runtime-options.ts';
import { SerialQueue } from './serial-queue.ts';
import { ToolCatalog } from './tool-catalog.ts';
import { WorktreeLifecycle } from './worktree/worktree-lifecycle.ts';

/** Starts a runtime on a ledger: registers the worker, listens for signals. Closing the store is left to the caller. */
export async function openRuntime(options: RuntimeOptions): Promise<RuntimeFace> {
  const { store, clock = await ledgerTime(store), newId = idSequence() } = options;
  const runtime = new Runtime({ ...options, clock, newId, output: new SpillCleanup(options.spill_dir) });
  await runtime.open();
  return runtime;
}

/** Enough to know each provider that is waited for. */
const PARKED_MAX = 100;

class Runtime implements RuntimeFace {
  readonly #store: Store;
  readonly #options: OpenOptions;
  readonly #catalog: ToolCatalog;
  readonly #executor: Executor;
  readonly #keeper: LeaseKeeper;
  readonly #unattended = new UnattendedTrees();
  readonly #quiescence: Quiescence;
  readonly #timers: AgentTimers;
  readonly #clocks = new StoppedClocks();
  readonly #listeners = new Set<(event: RuntimeEvent) => void>();
  readonly #models: ModelCache;
  readonly #orders: HumanOrders;
  readonly #worktrees = new WorktreeLifecycle();
  /** Serialises following signals and releasing trees, which must not overlap. */
  readonly #serial = new SerialQueue();
  /** Roots of trees being taken over, which must not be released meanwhile. */
  readonly #resuming: string[] = [];
  #closing: Promise<void> | null = null;
  /** Agents that waited for providers when the first tree was taken over without a person. */
  #parked: Promise<readonly Agent[]> | undefined;

  constructor(options: OpenOptions) {
    this.#options = options;
    this.#store = options.store;
    const limitsOf = (id: string) => this.#executor.agent_index.tree(id)?.limits;
    this.#models = new ModelCache(options.openModel, limitsOf, options.context, options.workflows);
    const terms = { ...DEFAULT_TERMS, ...options.terms };
    const recall = createRecallTool(options.store);
    // Imported once a run is run again.
    let earlier: Promise<EarlierRuns> | undefined;
    this.#catalog = new ToolCatalog({ ...options, terms, recall });
    this.#executor = new Executor({
      ...options,
      catalog: this.#catalog,
      role: options.role ?? 'run',
      labels: options.labels ?? [],
      emit: (event) => this.#emit(event),
      perform: (cell, effect) => this.#perform(cell, effect),
      resolveNeed: (agent, need) =>
        resolveNeed(agent, need, {
          openModel: (name) => this.#models.modelFor(agent, name),
          spill_dir: options.spill_dir,
          workflows: options.workflows,
          earlier: () => {
            earlier ??= import('./performing/earlier-run.ts').then(
              ({ EarlierRuns }) => new EarlierRuns(options.store),
            );
            return earlier;
          },
        }),
      mayCreate: (agent, need) => mayCreate(agent, need, options),
      discard: (worktree) => this.#worktrees.discard(worktree),
      onRound: (root_ids) => this.#quiescence.check(root_ids),
      onStuck: (root_id, why) => this.#quiescence.fail(root_id, why),
    });
    this.#orders = new HumanOrders(this.#executor, options);
    this.#quiescence = new Quiescence(this.#executor, options);
    this.#timers = new AgentTimers(this.#executor, options.clock, this.#clocks);
    this.#keeper = new LeaseKeeper({
      ...options,
      worker: this.#executor.worker,
      onSignals: () =>
        this.#serial.run(async () => {
          this.#executor.followClock();
          await this.#executor.sync.followSignals();
          this.#quiescence.check();
        }),
      onLost: () => this.#executor.sync.requestFullCheck(),
      onEnding: () => this.#unattended.stopCalls(this.#executor.cells.values()),
    });
  }

  open(): Promise<void> {
    const { gone } = this.#store;
    gone.addEventListener('abort', () => {
      this.#emit({ type: 'ledger', reachable: false, text: gone.reason.message });
      void this.close();
    });
    return this.#keeper.start();
  }

  #emit(event: RuntimeEvent): void {
    if (event.type === 'agent') {
      if (isTerminal(event.agent.state.type)) {
        this.#worktrees.ended(event.agent);
        this.#models.closeScripts(event.agent.id);
      }
      this.#clocks.see(event.agent, this.#executor);
    }
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch (error) {
        // A listener's exception must not stop the agents; Node reports it as uncaught.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }

  get #context() {
    return {
      ...this.#options,
      executor: this.#executor,
      worktrees: this.#worktrees,
      catalog: this.#catalog,
      ...{ models: this.#models, timers: this.#timers },
      emit: (event: RuntimeEvent) => this.#emit(event),
    };
  }

  #perform(cell: Cell, effect: WorldEffect): void {
    const context = this.#context;
    switch (effect.type) {
      case 'request-model':
        this.#timers.watch(cell);
        void performRequest(cell, context, effect.insists);
        return;
      case 'run-call':
        if (this.#catalog.toolsetTool(cell.agent.config, effect.call.name) !== undefined) {
          cell.inputs.push({ type: 'toolset-call', call: effect.call });
          this.#executor.wake(cell);
        } else void performCall(cell, effect.call, context);
        return;
      case 'answer-program':
        return cell.questions.get(effect.ask_id)?.(effect);
      case 'start-timer':
        return this.#timers.wakeAt(cell, effect.call_id, effect.at);
      case 'await-provider':
        return void awaitProvider(cell, effect.at, context);
      case 'abort':
        return stopWork(cell);
    }
  }

  get worker_id(): string {
    return this.#executor.worker.id;
  }

  holdsLease(): boolean {
    return this.#keeper.holds();
  }

  async begin({ config, limits, placement = [], ...named }: RestOptions): Promise<Agent> {
    this.#assertOpen();
    const terms = { ...named, config: await this.checked(config, limits) };
    const root = restingRoot(terms, this.#origin(this.#executor.worker.id));
    return this.#lead(root, limits, { served: true, placement });
  }

  async checked(config: AgentConfig, limits?: RestOptions['limits']): Promise<AgentConfig> {
    const checked = checkedConfig(config, this.#catalog);
    await this.#models.model(checked.model, limits);
    // One whose key is missing stands in for nothing; a name that can never mean a model is a mistake.
    for (const name of checked.fallback ?? [])
      await this.#models.model(name).catch((error: unknown) => {
        if ((error as CoppiceError).code === 'E_MODEL_UNKNOWN') throw error;
      });
    return checked;
  }

  async release(root_id: string): Promise<boolean> {
    this.#assertOpen();
    // Signals that arrive meanwhile stay in the ledger for the next leader.
    return this.#serial.run(async () => {
      if (this.#resuming.includes(root_id)) return false;
      const is_released = await releaseTree(root_id, this.#executor, this.#store, this.#unattended);
      if (is_released) this.#models.closeScripts(root_id);
      return is_released;
    });
  }

  async start(options: StartOptions): Promise<Agent> {
    const root = await this.#promptedRoot(options, this.#executor.worker.id);
    return this.#lead(root, options.limits, undefined, options.id);
  }

  async #lead(
    root: NewAgent,
    limits: RestOptions['limits'],
    terms?: RootTerms,
    given_id?: string,
  ): Promise<Agent> {
    const tree = await this.#store.createRoot(root, checkedLimits(limits), terms);
    // Whoever chose the id may have started it before, here or elsewhere.
    const there = given_id === undefined ? null : await this.#store.agent(given_id);
    if (there !== null && (there.worker !== this.worker_id || this.#executor.cells.has(there.id)))
      return there;
    this.#executor.agent_index.setTree(tree);
    return this.#executor.beginRoot(root).agent;
  }

  async enter(options: StartOptions, placement: readonly string[]): Promise<string> {
    const root = await this.#promptedRoot(options, null);
    await this.#store.createRoot(root, checkedLimits(options.limits), { served: true, placement });
    return root.agent.id;
  }

  async #promptedRoot(options: StartOptions, worker: string | null): Promise<NewAgent> {
    this.#assertOpen();
    checkedLimits(options.limits);
    if (options.prompt.trim() === '') throw new CoppiceError('E_INVALID_ARGUMENT', 'the prompt is empty');
    const config = await this.checked(options.config, options.limits);
    const origin = this.#origin(worker, options.id);
    const agent = { id: origin.id, name: options.name ?? 'main', root_id: origin.id, config };
    // What others lead, perhaps on another machine, has its hooks there.
    const prompted = worker === null ? options : await promptWithHooks(agent, options, true, this.#context);
    return promptedRoot({ ...prompted, config }, origin);
  }

  #origin(worker: string | null, id = this.#options.newId('agent')): RootOrigin {
    return { id, created_at: this.#options.clock.now(), worker };
  }

  async resume(root_id: string, options: ResumeOptions = {}) {
    this.#assertOpen();
    this.#resuming.push(root_id);
    if (options.unattended === true) this.#unattended.add(root_id);
    try {
      return await takeOver(root_id, options, {
        ...this.#options,
        executor: this.#executor,
        timers: this.#timers,
        openModel: (name, limits) => this.#models.model(name, limits),
        closeDoors: async (agents) => {
          // A server that starts sends nothing into what the trees wait for that nobody leads.
          if (options.unattended === true)
            this.#parked ??= this.#store.parkedRequests(PARKED_MAX).catch(() => []);
          const parked = (await this.#parked) ?? [];
          await closeDoors([...agents, ...parked], { ...this.#options, models: this.#models });
        },
        assertOpen: () => this.#assertOpen(),
      });
    } finally {
      this.#resuming.splice(this.#resuming.indexOf(root_id), 1);
    }
  }

  get #people(): HumanOrders {
    this.#assertOpen();
    return this.#orders;
  }

  readonly send: RuntimeFace['send'] = async (to_id, text, as = {}) => {
    const people = this.#people;
    const agent = this.#executor.agent_index.agent(to_id);
    // What others lead has its hooks there.
    if (agent === undefined || !this.#executor.cells.has(to_id)) return people.ledger.send(to_id, text, as);
    const given = { prompt: text, ...(as.attached !== undefined && { attached: as.attached }) };
    const { prompt, attached } = await promptWithHooks(agent, given, false, this.#context);
    return people.ledger.send(to_id, prompt, { ...as, ...(attached !== undefined && { attached }) });
  };
  readonly takeBack: RuntimeFace['takeBack'] = async (...mail) => this.#people.takeBack(...mail);
  readonly fork: RuntimeFace['fork'] = async (...order) => this.#people.fork(...order);
  readonly create: RuntimeFace['create'] = async (id, order) =>
    this.#people.create(id, { type: 'create', ...order });
  readonly wait: RuntimeFace['wait'] = async (...order) => this.#people.wait(...order);
  readonly answer: RuntimeFace['answer'] = async (...answer) => this.#people.ledger.answer(...answer);
  readonly kill: RuntimeFace['kill'] = async (...order) => this.#people.ledger.kill(...order);
  readonly retry: RuntimeFace['retry'] = (id, without_last = false) =>
    this.#order(id, { type: 'retry', without_last });
  readonly compact: RuntimeFace['compact'] = async (...order) => this.#people.ledger.compact(...order);
  readonly switchMode: RuntimeFace['switchMode'] = (id, mode) => this.#order(id, { type: 'mode', mode });
  readonly interrupt: RuntimeFace['interrupt'] = (id, reason) => this.#order(id, { type: 'cancel', reason });

  readonly steerWorkflow: RuntimeFace['steerWorkflow'] = async (...order) =>
    this.#people.ledger.steerWorkflow(...order);
  readonly startWorkflow: RuntimeFace['startWorkflow'] = (id, order) =>
    this.#order(id, { type: 'workflow', ...order });

  readonly useWorkflows: RuntimeFace['useWorkflows'] = (id) => this.#order(id, { type: 'workflows' });

  async #order(agent_id: string, order: Order): Promise<void> {
    await this.#people.ledger.order(agent_id, order);
  }

  async capture(...[agent_id, text, mark]: Parameters<RuntimeFace['capture']>): Promise<void> {
    const content = mark === undefined ? { text: storable(text) } : { text: '', mark };
    await this.#order(agent_id, { type: 'capture', ...content });
  }

  async switchModel(...[agent_id, model, thinking]: Parameters<RuntimeFace['switchModel']>): Promise<void> {
    await this.#models.modelFor(await this.#people.ledger.find(agent_id), model);
    await this.#order(agent_id, { type: 'model', model, ...(thinking && { thinking }) });
  }

  offers(agent: Pick<Agent, 'root_id' | 'config'>) {
    return this.#catalog.offers(agent);
  }

  async sentFirst(agent_id: string) {
    const agent = await this.#people.ledger.find(agent_id);
    const tree = this.#executor.agent_index.tree(agent.root_id);
    const { system } = this.#catalog.setupFor(agent.config);
    return { system, tools: this.#catalog.sentTools(agent, tree, false) };
  }

  readonly settled: RuntimeFace['settled'] = async (agent_id, until = 'tree', signal) => {
    this.#assertOpen();
    return this.#quiescence.settled(agent_id, until, signal);
  };

  async agents(root_id: string): Promise<readonly Agent[]> {
    const known = this.#executor.agent_index.members(root_id);
    return known.length > 0 ? known : this.#store.agents({ root_id });
  }

  models() {
    return this.#models.opened();
  }

  subscribe(listener: (event: RuntimeEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #assertOpen(): void {
    this.#store.gone.throwIfAborted();
    if (this.#closing !== null) throw new CoppiceError('E_CLOSED', 'the runtime is closed');
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#executor.close();
    const [models, worktrees, output] = [this.#models, this.#worktrees, this.#options.output];
    await Promise.all([models.close(), worktrees.close(), output.close(), this.#catalog.close()]);
    this.#quiescence.close(this.#store.gone.reason);
    await this.#keeper.stop();
  }
}

const MAIN = 'agent:main:main';

type RootOptions = Pick<RestOptions, 'name' | 'session_key' | 'config'>;

/** Fields that the runtime adds. `worker`: the worker that leads the root from the start; null: none. */
interface RootOrigin {
  readonly id: string;
  readonly created_at: number;
  readonly worker: string | null;
}

/** A root that is idle until it gets mail. */
function restingRoot({ config: given, ...named }: RootOptions, origin: RootOrigin): NewAgent {
  const { output } = given;
  const config = output === undefined ? given : { ...given, output: { ...output, agent_id: origin.id } };
  return { agent: idleRoot({ ...named, ...origin, config }), messages: [] };
}

/** A root that begins with a person's prompt. Throws `E_INVALID_ARGUMENT` if its name is invalid. */
export function promptedRoot(
  { prompt, images, attached, letter, config, name = 'main' }: StartOptions,
  origin: RootOrigin,
): NewAgent {
  const fault = nameFault(name, true);
  if (fault !== null) throw new CoppiceError('E_INVALID_ARGUMENT', fault);
  const state: AgentState = { type: 'requesting', attempt: 1, turn: newTurn(origin.created_at) };
  const letters = letter === undefined ? undefined : [{ id: letter, from_id: null }];
  const content = {
    origin: 'human' as const,
    text: storable(prompt),
    ...(images && { images }),
    ...((attached ?? letters) && { facts: { ...(attached && { attached }), ...(letters && { letters }) } }),
  };
  const { agent } = restingRoot({ name, session_key: MAIN, config }, origin);
  return { agent: { ...agent, state }, messages: [{ kind: 'user', content }] };
}
