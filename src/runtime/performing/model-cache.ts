import type { Model } from '../../models/model.ts';
import type { WorkflowHost } from '../../models/workflow-host.ts';
import type { Agent } from '../../records/agent/agent.ts';
import type { TreeLimits } from '../../records/agent/limits.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { keptIn } from '../../records/kept-in.ts';
import type { WorkflowTerms } from '../../records/workflow/workflow-terms.ts';
import { type ContextOptions, ContextRoom } from './context-room.ts';
import { PrefixCacheGate } from './prefix-cache-gate.ts';

interface OpenScript {
  readonly root_id: string;
  readonly model: Promise<Model>;
}

/** The models of a runtime, each opened once. */
export class ModelCache {
  readonly #open: (name: string) => Promise<Model>;
  readonly #workflows: WorkflowHost | undefined;
  readonly #limitsOf: (root_id: string) => TreeLimits | undefined;
  readonly #models = new Map<string, Promise<Model>>();

  /** The scripts of workflow runs, by agent. */
  readonly #scripts = new Map<string, OpenScript>();
  /** Ids of models whose servers have reported a cache in an answer. */
  readonly reporting = new Set<string>();
  readonly rooms: ContextRoom;
  readonly siblings = new PrefixCacheGate();

  constructor(
    open: (name: string) => Promise<Model>,
    limitsOf: (root_id: string) => TreeLimits | undefined,
    context?: ContextOptions,
    workflows?: WorkflowHost,
  ) {
    this.#workflows = workflows;
    this.#open = open;
    this.#limitsOf = limitsOf;
    this.rooms = new ContextRoom(context);
  }

  /** Model that answers the agent's requests. */
  async modelOf(agent: Agent): Promise<Model> {
    const { client, model, workflow } = agent.config;
    if (workflow !== undefined)
      return keptIn(this.#scripts, agent.id, () => this.#openScript(agent, workflow)).model;
    // Imported on first use: only agents of MCP clients need it.
    if (client !== undefined) return (await import('../../models/client-model.ts')).clientModel;
    return this.modelFor(agent, model);
  }

  #openScript(agent: Agent, terms: WorkflowTerms): OpenScript {
    const none = new CoppiceError('E_SCRIPT', 'this program runs no workflows');
    const model = this.#workflows?.modelOf(agent, terms) ?? Promise.reject(none);
    return { root_id: agent.root_id, model };
  }

  /** Closes the scripts of a tree or of one agent, which this process no longer leads. */
  closeScripts(of: string): void {
    for (const [id, { root_id, model }] of this.#scripts) {
      if (id !== of && root_id !== of) continue;
      this.#scripts.delete(id);
      void model.then((one) => one.close?.()).catch(() => undefined);
    }
  }

  /** As `model`, under the agent's own cost budget, otherwise under the limits of its tree. */
  modelFor({ root_id, config }: Agent, name: string): Promise<Model> {
    const budget = config.budgets?.find(({ usd }) => usd !== undefined)?.usd;
    return this.model(name, budget === undefined ? this.#limitsOf(root_id) : { cost_usd: budget });
  }

  /** Opens a model for an agent under these limits. Rejects with a `CoppiceError`: `E_NO_PRICE` if there is a cost limit and the price is unknown. */
  async model(name: string, limits: Partial<Pick<TreeLimits, 'cost_usd' | 'usual'>> = {}): Promise<Model> {
    const model = await this.#opened(name);
    if (typeof limits.cost_usd === 'number' && limits.usual !== true && !model.tells_cost)
      throw noPrice(name);
    return model;
  }

  #opened(name: string): Promise<Model> {
    return keptIn(this.#models, name, () => {
      const model = this.#open(name);
      // Failures are not cached: a key may be set, or a file corrected, before the next try.
      model.catch(() => this.#models.delete(name));
      return model;
    });
  }

  /** Closes the models that hold resources. */
  async opened(): Promise<readonly Model[]> {
    const all = await Promise.allSettled(this.#models.values());
    return all.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  }

  async close(): Promise<void> {
    const models = [...this.#models.values(), ...[...this.#scripts.values()].map(({ model }) => model)];
    this.#models.clear();
    this.#scripts.clear();
    await Promise.all(models.map((model) => model.then((one) => one.close?.()).catch(() => undefined)));
  }
}

function noPrice(name: string): CoppiceError {
  const [provider = '', ...rest] = name.split('/');
  const remedy = name.startsWith('acp:')
    ? `set ${name.split('/', 1)[0]?.replace(':', '.')}.price to { "input": …, "output": … } of the model that it uses, or use --limit cost=none`
    : `set providers.${provider}.models."${rest.join('/')}".price to { "input": …, "output": … }, or use --limit cost=none`;
  return new CoppiceError(
    'E_NO_PRICE',
    `there is a limit on cost, and what ${name} costs is not known: ${remedy}`,
  );
}
