/**
 * The library: create a runtime on a ledger, register tools and models of one's own, start agents, stream what happens, send, wait
 * for the result, kill, close. See examples/library.ts.
 */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentConfig, PermissionRules } from './core/agent.ts';
import type { Limits } from './core/limits.ts';
import type { Gate } from './models/gate.ts';
import type { Model } from './models/model.ts';
import type { ProviderConfig } from './models/provider-config.ts';
import { openModel } from './models/providers.ts';
import { openRuntime } from './runtime/open-runtime.ts';
import type { RuntimeEvent } from './runtime/runtime-event.ts';
import type { ResumeReport, RuntimeFace, TreeOutcome } from './runtime/runtime-face.ts';
import { openStore } from './store/open-store.ts';
import { killAllProcessGroups } from './tools/process-group.ts';
import type { Tool } from './tools/tool.ts';
import { createBuiltInTools } from './tools/tool-registry.ts';

export type { Agent } from './core/agent.ts';
export { CoppiceError } from './core/coppice-error.ts';
export type { Limits } from './core/limits.ts';
export type { Mail } from './core/mail.ts';
export type { AssistantPart, PlacedMessage } from './core/message.ts';
export type { Model, ModelDelta, ModelOutcome, ModelRequest } from './models/model.ts';
export { createScriptedModel } from './models/scripted-model.ts';
export type { RuntimeEvent } from './runtime/runtime-event.ts';
export type { ResumeReport, TreeOutcome } from './runtime/runtime-face.ts';
export { StoreError } from './store/store-error.ts';
export { defineTool } from './tools/define-tool.ts';
export type { Tool, ToolContext, ToolResult } from './tools/tool.ts';

export interface CoppiceOptions {
  /** `sqlite:PATH` or `postgres://…`. Created when it does not exist. */
  readonly database: string;
  /** `provider/model` for agents that name none. */
  readonly model: string;
  /** Models of one's own by name; they go before providers. */
  readonly models?: Readonly<Record<string, Model>>;
  /** Providers beside the built-in ones, as in the configuration file. */
  readonly providers?: Readonly<Record<string, ProviderConfig>>;
  /** Where keys are looked up. Default `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Tools of one's own, made with `defineTool`; agents may use them without asking. */
  readonly tools?: readonly Tool[];
  /** Names of built-in tools that agents see: bash, read, write, patch, search, think, read_image. Default: read, search, think. */
  readonly builtInTools?: readonly string[];
  /** Folder of the agents. Default: the current one. */
  readonly cwd?: string;
  /** Rules such as `bash:git *`; what would ask a person is denied. */
  readonly permissions?: Partial<PermissionRules>;
  readonly limits?: Partial<Limits>;
  readonly system?: string;
  readonly thinking?: AgentConfig['thinking'];
}

export interface AgentOptions {
  readonly prompt: string;
  /** Default `main`. */
  readonly name?: string;
  readonly model?: string;
  readonly system?: string;
  readonly limits?: Partial<Limits>;
}

/** One root agent and its tree. */
export interface RunningAgent {
  /** Uuid; every other process can find the agent by it. */
  readonly id: string;
  /** Resolves when nothing of its tree is at work any more: its last reply, or why it failed. */
  result(): Promise<TreeOutcome>;
  /** A letter from the human. */
  send(text: string): Promise<void>;
  /** Stops its turn; its children go on. */
  interrupt(reason: string): Promise<void>;
  /** Ends it and all its descendants; resolves to their ids. */
  kill(): Promise<readonly string[]>;
}

/** A runtime on one ledger. All methods reject with a `CoppiceError` or a `StoreError`. */
export interface Coppice {
  start(options: AgentOptions): Promise<RunningAgent>;
  /** Takes over a tree that no living process leads, and goes on where it stopped. */
  resume(
    root_id: string,
    options?: { readonly retry?: boolean },
  ): Promise<RunningAgent & { readonly report: ResumeReport }>;
  /** Everything that happens, of all agents of this process; call the returned function to stop. */
  subscribe(listener: (event: RuntimeEvent) => void): () => void;
  /** Any agent by its uuid. */
  send(agent_id: string, text: string): Promise<void>;
  kill(agent_id: string): Promise<readonly string[]>;
  /** Ends all work of this process. Nothing is lost: `resume` goes on. */
  close(): Promise<void>;
}

/** Opens the ledger and a runtime on it. */
export async function openCoppice(options: CoppiceOptions): Promise<Coppice> {
  const store = await openStore(options.database);
  const gates = new Map<string, Gate>();
  const tools = [...createBuiltInTools(), ...(options.tools ?? [])];
  const runtime = await openRuntime({
    store,
    tools,
    openModel: async (name) =>
      options.models?.[name] ??
      openModel(name, { providers: options.providers ?? {}, env: options.env ?? process.env, gates }),
    spill_dir: join(tmpdir(), 'coppice-output'),
    env_allow: [],
  });
  const handle = (id: string): RunningAgent => ({
    id,
    result: () => runtime.settled(id),
    send: async (text) => void (await runtime.send(id, text)),
    interrupt: (reason) => runtime.interrupt(id, reason),
    kill: () => runtime.kill(id),
  });
  return {
    async start(agent) {
      const limits = { ...options.limits, ...agent.limits };
      const started = await runtime.start({
        prompt: agent.prompt,
        name: agent.name ?? 'main',
        config: configOf(options, agent),
        limits,
      });
      return handle(started.id);
    },
    async resume(root_id, how) {
      const report = await runtime.resume(root_id, how);
      return { ...handle(root_id), report };
    },
    subscribe: (listener) => runtime.subscribe(listener),
    send: async (agent_id, text) => void (await runtime.send(agent_id, text)),
    kill: (agent_id) => runtime.kill(agent_id),
    close: () => close(runtime, () => store.close()),
  };
}

async function close(runtime: RuntimeFace, closeStore: () => Promise<void>): Promise<void> {
  await runtime.close();
  killAllProcessGroups();
  await closeStore();
}

function configOf(options: CoppiceOptions, agent: AgentOptions): AgentConfig {
  const own = (options.tools ?? []).map((tool) => tool.spec.name);
  const none = { allow: [], ask: [], deny: [] };
  return {
    model: agent.model ?? options.model,
    thinking: options.thinking ?? 'off',
    system:
      agent.system ?? options.system ?? 'You are an agent. Do what you are asked with the tools you have.',
    toolsets: ['process'],
    tools: [...(options.builtInTools ?? ['read', 'search', 'think']), ...own],
    cwd: options.cwd ?? process.cwd(),
    permissions: {
      cli: none,
      config: { ...none, ...options.permissions, allow: [...own, ...(options.permissions?.allow ?? [])] },
    },
  };
}
