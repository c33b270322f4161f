import type { SdkModel } from '../models/model.ts';
import type { WorkflowFunction } from '../models/workflow/globals/workflow-function.ts';
import { killAllProcessGroups } from '../processes/process-group.ts';
import { WHAT_IF } from '../records/agent/agent.ts';
import { CoppiceError } from '../records/coppice-error.ts';
import { openRuntime } from '../runtime/open-runtime.ts';
import type { RuntimeClock } from '../runtime/runtime-clock.ts';
import type { RuntimeFace } from '../runtime/runtime-face.ts';
import { runtimeParts } from '../settings/runtime-parts.ts';
import { openStore } from '../store/open-store.ts';
import type { Store } from '../store/store.ts';
import { createBuiltInTools } from '../tools/tool-registry.ts';
import { type AgentSources, agentConfig, agentLimits, agentTerms, profileMap } from './agent-config.ts';
import {
  type AgentOptions,
  type CoppiceOptions,
  checkOptions,
  isSdkModel,
  modelName,
  namedProfiles,
} from './coppice-options.ts';
import { type Engine, engineOn, refuseOldNode } from './engine.ts';
import type { Methods } from './methods.ts';
import { Registry } from './registry.ts';
import { LiveAnswers } from './streams/live-answers.ts';

/** A runtime on one ledger. */
export interface Coppice extends Pick<Engine<never>, 'subscribe' | 'kill' | 'close'>, Methods {}

const METHODS = [
  ...(['start', 'resume', 'find', 'send', 'chat', 'workflow', 'approvals', 'answer'] as const),
  ...(['trees', 'agents', 'messages', 'timeline', 'rewind', 'whatIf'] as const),
] as const satisfies readonly (keyof Methods)[];

/** Parts that a test brings along: a ledger in memory, a clock. */
interface OwnParts {
  readonly store?: Store;
  readonly clock?: RuntimeClock;
}

/** Opens the ledger and a runtime on it. */
export async function openOn(options: CoppiceOptions, parts: OwnParts = {}): Promise<Coppice> {
  refuseOldNode();
  checkOptions(options ?? undefined);
  const { registry } = options;
  if (registry === undefined) return openWith(options, null, parts);
  if (!(registry instanceof Registry))
    throw new CoppiceError('E_INVALID_ARGUMENT', 'registry: it was not made with createToolRegistry');
  registry.take();
  return openWith(options, registry, parts).catch((error: unknown) => {
    registry.release();
    throw error;
  });
}

async function openWith(
  options: CoppiceOptions,
  registry: Registry | null,
  given: OwnParts,
): Promise<Coppice> {
  const own = [...(options.tools ?? []), ...(registry?.tools ?? [])];
  const models = new Map(Object.entries(options.models ?? {}));
  // In the ledger a model is a name; an object that comes without one is called as its package calls it.
  const nameOf = (model: string | SdkModel) => {
    const [given] = [...models].find(([, one]) => one === model) ?? [];
    const name = given ?? modelName(model);
    if (typeof model !== 'string' && !models.has(name)) models.set(name, model);
    return name;
  };
  const profiles = namedProfiles(options, nameOf);
  const known = { ...options, model: options.model && nameOf(options.model), profiles };
  const sources: AgentSources = {
    options: known,
    own,
    subagents: registry?.subagents ?? null,
    profiles: profileMap(known, own),
  };
  const terms = agentTerms(sources);
  const { env = process.env } = options;
  const store = given.store ?? (await openStore(options.database));
  const parts = runtimeParts(known, env, store, (name, terms) => {
    const model = models.get(name);
    if (name === WHAT_IF) return whatIf();
    if (!isSdkModel(model)) return model;
    return import('../models/sdk-model.ts').then(({ openSdkModel }) => openSdkModel(name, model, terms));
  });
  const whatIf = async () =>
    (await import('../trees/rewind/what-if/what-if-model.ts')).whatIfModel({
      ...parts,
      runtime: () => runtime,
    });
  const functions = new Map<string, WorkflowFunction>();
  const runtime = await openRuntime({
    ...parts,
    ...(given.clock === undefined ? {} : { clock: given.clock }),
    workflows: {
      ...parts.workflows,
      modelOf: (run, own) => parts.workflows.modelOf(run, own, () => functions.get(run.id)),
    },
    can_ask: options.onApproval !== undefined,
    tools: [...createBuiltInTools({ ...parts.bounds, web: options.web ?? {}, env }), ...own],
    terms,
  });
  const watch = registry === null ? null : await subagentsOf(registry, runtime, sources, terms);
  let closing: Promise<void> | null = null;
  open_count += 1;
  const rootOf = (agent: AgentOptions) => ({
    prompt: agent.prompt,
    name: agent.name ?? 'main',
    config: agentConfig(sources, { ...agent, model: agent.model && nameOf(agent.model) }),
    limits: agentLimits(sources, agent),
  });
  const closed = () => new CoppiceError('E_CLOSED', 'the coppice is closed');
  // Handles outlive a coppice.
  const open_store = new Proxy(store, {
    get(own, name) {
      if (closing !== null) throw closed();
      const value: unknown = Reflect.get(own, name);
      return typeof value === 'function' ? value.bind(own) : value;
    },
  });
  const ground = {
    ...{ runtime, store: open_store, rootOf, nameOf, functions, env },
    ...{ cwd: options.cwd ?? process.cwd(), database: options.database, live: new LiveAnswers() },
  };
  runtime.subscribe((event) => ground.live.see(event));
  if (typeof options.onApproval === 'function') {
    const { approvalWatch } = await import('./approvals.ts');
    const see = approvalWatch(ground, options.onApproval);
    runtime.subscribe((event) => event.type === 'agent' && see(event.agent));
  }
  // Imported with the first call: most of it is never needed.
  let methods: Promise<Methods> | undefined;
  const later =
    (name: (typeof METHODS)[number]) =>
    async (...given: never[]) => {
      if (closing !== null) throw closed();
      methods ??= import('./methods.ts').then(({ methodsOn }) => methodsOn(ground));
      return ((await methods)[name] as (...given: never[]) => unknown)(...given);
    };
  const engine = engineOn<AgentOptions>(runtime, rootOf);
  const end = async () => {
    open_count -= 1;
    await engine.close();
    // The list of programs is one for the process: those of another open coppice must go on.
    if (open_count === 0) killAllProcessGroups();
    await store.close();
  };
  return {
    ...engine,
    ...(Object.fromEntries(METHODS.map((name) => [name, later(name)])) as unknown as Methods),
    close() {
      closing ??= end().finally(() => {
        watch?.close();
        registry?.release();
      });
      return closing;
    },
  };
}

/** Lets a registry run sub-agents, and tells its callbacks of them. Imported with the first registry. */
async function subagentsOf(
  registry: Registry,
  runtime: RuntimeFace,
  sources: AgentSources,
  { delegation }: ReturnType<typeof agentTerms>,
) {
  const { subagentHost } = await import('./subagents/subagent-host.ts');
  const { SubagentWatch } = await import('./subagents/subagent-watch.ts');
  const watch = new SubagentWatch(sources.subagents?.callbacks ?? {});
  runtime.subscribe((event) => watch.see(event));
  const [config, limits] = [agentConfig(sources, {}), agentLimits(sources, {})];
  registry.bind(subagentHost({ runtime, delegation, config, limits }));
  return watch;
}

/** Number of coppices that are open in this process. */
let open_count = 0;
