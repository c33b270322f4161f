/**
 * The library: open a runtime on a ledger with your own tools and models, start agents, stream events, send mail, wait for results, kill,
 * close. See examples/library.ts. `openClient` does the same through the HTTP API of a server.
 */

import {
  type AgentSources,
  agentConfig,
  agentLimits,
  agentTerms,
  profileMap,
} from './library/agent-config.ts';
import type { AgentOptions, CoppiceOptions } from './library/coppice-options.ts';
import { checkAgentOptions, checkOptions } from './library/coppice-options.ts';
import { Registry } from './library/registry.ts';
import { subagentHost } from './library/subagent-host.ts';
import { SubagentWatch } from './library/subagent-watch.ts';
import { killAllProcessGroups } from './processes/process-group.ts';
import { CoppiceError } from './records/coppice-error.ts';
import { openRuntime } from './runtime/open-runtime.ts';
import type { RuntimeEvent } from './runtime/runtime-event.ts';
import type { ResumeOptions, ResumeReport, RuntimeFace, TreeOutcome } from './runtime/runtime-face.ts';
import { nodeTooOld } from './settings/node-version.cjs';
import { runtimeParts } from './settings/runtime-parts.ts';
import { openStore } from './store/open-store.ts';
import { createBuiltInTools } from './tools/tool-registry.ts';

export type { DocumentOf } from './documents/shapes/all-documents.ts';
export type { EventDocument } from './documents/shapes/event-documents.ts';
export type { AgentOptions, CoppiceOptions, ProfileOptions } from './library/coppice-options.ts';
export { registerSubagentTools } from './library/register-subagent-tools.ts';
export { createToolRegistry } from './library/registry.ts';
export type {
  SubagentCallbacks,
  SubagentInfo,
  SubagentResult,
  SubagentToolsOptions,
} from './library/subagent-options.ts';
export type {
  ToolCallRequest,
  ToolCallResult,
  ToolCategory,
  ToolDefinition,
  ToolHandler,
  ToolParameter,
  ToolRegistry,
} from './library/tool-definition.ts';
export type { Model, ModelDelta, ModelOutcome, ModelRequest } from './models/model.ts';
export { createScriptedModel } from './models/scripted/scripted-model.ts';
export type { Agent } from './records/agent/agent.ts';
export type { Limits } from './records/agent/limits.ts';
export type { Mail } from './records/conversation/mail.ts';
export type { AssistantPart, PlacedMessage } from './records/conversation/message.ts';
export { CoppiceError } from './records/coppice-error.ts';
export type { Tool, ToolContext, ToolResult } from './records/tool.ts';
export type { RuntimeEvent } from './runtime/runtime-event.ts';
export type { ResumeOptions, ResumeReport, TreeOutcome } from './runtime/runtime-face.ts';
export { type CoppiceClient, openClient } from './serve/client/client.ts';
export type { ClientEvent, EventsOptions } from './serve/client/client-events.ts';
export type { ClientOptions } from './serve/client/client-request.ts';
export type { CallOptions } from './serve/client/client-types.ts';
export { StoreError } from './store/store-error.ts';
export { defineTool } from './tools/define-tool.ts';

/** Handle on a root agent and its tree. */
export interface RunningAgent {
  /** Uuid by which other processes can find the agent. */
  readonly id: string;
  /** Resolves, with the root's last reply or failure, once no agent of its tree is working any more. */
  result(): Promise<TreeOutcome>;
  /** Sends the agent a letter from a person. */
  send(text: string): Promise<void>;
  /** Interrupts its turn; its children continue. */
  interrupt(reason?: string): Promise<void>;
  /** Kills it and its living descendants; resolves to the ids of all killed agents. */
  kill(): Promise<readonly string[]>;
}

/** A runtime on one ledger. All methods reject with a `CoppiceError` or a `StoreError`. */
export interface Coppice {
  start(options: AgentOptions): Promise<RunningAgent>;
  /** Takes over a tree that no living process leads, and continues it. */
  resume(root_id: string, options?: ResumeOptions): Promise<RunningAgent & { readonly report: ResumeReport }>;
  /** Calls `listener` for the events of all agents of this process; returns a function that unsubscribes. */
  subscribe(listener: (event: RuntimeEvent) => void): () => void;
  /** Sends mail to any agent by its uuid. */
  send(agent_id: string, text: string): Promise<void>;
  kill(agent_id: string): Promise<readonly string[]>;
  /** Stops all work of this process. Nothing is lost: `resume` continues it. */
  close(): Promise<void>;
}

/** Opens the ledger and a runtime on it. */
export async function openCoppice(options: CoppiceOptions): Promise<Coppice> {
  const too_old = nodeTooOld(process.versions.node);
  if (too_old !== null) throw new CoppiceError('E_NODE_TOO_OLD', too_old);
  checkOptions(options);
  const { registry } = options;
  if (registry === undefined) return openWith(options, null);
  if (!(registry instanceof Registry))
    throw new CoppiceError('E_INVALID_ARGUMENT', 'registry: it was not made with createToolRegistry');
  registry.take();
  return openWith(options, registry).catch((error: unknown) => {
    registry.release();
    throw error;
  });
}

async function openWith(options: CoppiceOptions, registry: Registry | null): Promise<Coppice> {
  const own = [...(options.tools ?? []), ...(registry?.tools ?? [])];
  const sources: AgentSources = {
    options,
    own: own.map((tool) => tool.spec.name),
    subagents: registry?.subagents ?? null,
    profiles: profileMap(options, own),
  };
  const terms = agentTerms(sources);
  const { env = process.env } = options;
  const store = await openStore(options.database);
  const parts = runtimeParts(options, env, store, (name) => options.models?.[name]);
  const runtime = await openRuntime({
    ...parts,
    tools: [...createBuiltInTools({ ...parts.bounds, web: options.web ?? {}, env }), ...own],
    terms,
  });
  const watch = new SubagentWatch(sources.subagents?.callbacks ?? {});
  runtime.subscribe((event) => watch.see(event));
  registry?.bind(
    subagentHost({
      runtime,
      delegation: terms.delegation,
      config: agentConfig(sources, {}),
      limits: agentLimits(sources, {}),
    }),
  );
  let closing: Promise<void> | null = null;
  open_count += 1;
  const handle = (id: string): RunningAgent => ({
    id,
    result: () => runtime.settled(id),
    send: async (text) => void (await runtime.send(id, text)),
    interrupt: (reason = 'by the program') => runtime.interrupt(id, reason),
    kill: () => runtime.kill(id),
  });
  return {
    async start(agent) {
      checkAgentOptions(agent);
      const started = await runtime.start({
        prompt: agent.prompt,
        name: agent.name ?? 'main',
        config: agentConfig(sources, agent),
        limits: agentLimits(sources, agent),
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
    close() {
      closing ??= close(runtime, () => store.close()).finally(() => {
        watch.close();
        registry?.release();
      });
      return closing;
    },
  };
}

/** Number of coppices that are open in this process. */
let open_count = 0;

async function close(runtime: RuntimeFace, closeStore: () => Promise<void>): Promise<void> {
  open_count -= 1;
  await runtime.close();
  // The list of programs is one for the process: those of another open coppice must go on.
  if (open_count === 0) killAllProcessGroups();
  await closeStore();
}
