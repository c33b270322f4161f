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
import type { RootOptions } from './library/agents.ts';
import type { CoppiceAgent, LetterOptions } from './library/coppice-agent.ts';
import {
  type AgentOptions,
  type CoppiceOptions,
  checkAgentOptions,
  checkOptions,
} from './library/coppice-options.ts';
import { type Engine, engineOn, refuseOldNode } from './library/engine.ts';
import { Registry } from './library/registry.ts';
import { subagentHost } from './library/subagent-host.ts';
import { SubagentWatch } from './library/subagent-watch.ts';
import type { Workflows } from './library/workflows.ts';
import type { WorkflowFunction } from './models/workflow/globals/workflow-function.ts';
import { killAllProcessGroups } from './processes/process-group.ts';
import { CoppiceError } from './records/coppice-error.ts';
import { openRuntime } from './runtime/open-runtime.ts';
import { runtimeParts } from './settings/runtime-parts.ts';
import { openStore } from './store/open-store.ts';
import { createBuiltInTools } from './tools/tool-registry.ts';

export type { DocumentOf } from './documents/shapes/all-documents.ts';
export type { EventDocument } from './documents/shapes/event-documents.ts';
export type { RootOptions } from './library/agents.ts';
export type { ChildOptions, CoppiceAgent, LetterOptions, SpawnOptions } from './library/coppice-agent.ts';
export type {
  AgentOptions,
  BuiltInTool,
  CoppiceOptions,
  Picture,
  ProfileOptions,
  ToolsetName,
} from './library/coppice-options.ts';
export type { Patience, RunningAgent } from './library/engine.ts';
export type { AgentOutcome, OutputSchema, TypedSchema } from './library/output.ts';
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
export type {
  RunningWorkflow,
  WorkflowOptions,
  WorkflowOutcome,
  Workflows,
} from './library/workflows.ts';
export type { Model, ModelDelta, ModelOutcome, ModelRequest } from './models/model.ts';
export { createScriptedModel } from './models/scripted/scripted-model.ts';
export type {
  WorkflowAgentCall,
  WorkflowAgentFailure,
  WorkflowAgentOptions,
  WorkflowFunction,
  WorkflowGlobals,
  WorkflowPipeline,
} from './models/workflow/globals/workflow-function.ts';
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

/** A runtime on one ledger. */
export interface Coppice extends Omit<Engine<RootOptions>, 'start'>, Workflows {
  start<Output = unknown>(options: RootOptions<Output>): Promise<CoppiceAgent<Output>>;
  /** Sends mail to any agent by its uuid. */
  send(agent_id: string, text: string, options?: LetterOptions): Promise<void>;
}

/** Opens the ledger and a runtime on it. */
export async function openCoppice(options: CoppiceOptions): Promise<Coppice> {
  refuseOldNode();
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
    own,
    subagents: registry?.subagents ?? null,
    profiles: profileMap(options, own),
  };
  const terms = agentTerms(sources);
  const { env = process.env } = options;
  const store = await openStore(options.database);
  const parts = runtimeParts(options, env, store, (name) => options.models?.[name]);
  const functions = new Map<string, WorkflowFunction>();
  const runtime = await openRuntime({
    ...parts,
    workflows: {
      ...parts.workflows,
      modelOf: (run, own) => parts.workflows.modelOf(run, own, () => functions.get(run.id)),
    },
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
  const rootOf = (agent: AgentOptions) => ({
    prompt: agent.prompt,
    name: agent.name ?? 'main',
    config: agentConfig(sources, agent),
    limits: agentLimits(sources, agent),
  });
  const ground = { runtime, store, cwd: options.cwd ?? process.cwd() };
  const engine = {
    ...engineOn<AgentOptions>(runtime, rootOf),
    // Imported on first use, as everything that an open coppice need not have.
    start: async <Output>(agent: RootOptions<Output>) =>
      (await import('./library/agents.ts')).startRoot(ground, rootOf, agent),
    send: async (...letter: Parameters<Coppice['send']>) =>
      (await import('./library/coppice-agent.ts')).sendLetter(ground, ...letter),
  };
  const workflow = async (...given: Parameters<Workflows['workflow']>) => {
    const { workflowsOn } = await import('./library/workflows.ts');
    const started = workflowsOn({
      ...{ runtime, store, functions, env },
      rootOf: (agent) => {
        checkAgentOptions(agent, 'workflow');
        return rootOf(agent);
      },
    });
    return started.workflow(...given);
  };
  const end = async () => {
    open_count -= 1;
    await engine.close();
    // The list of programs is one for the process: those of another open coppice must go on.
    if (open_count === 0) killAllProcessGroups();
    await store.close();
  };
  return {
    ...engine,
    workflow: workflow as Workflows['workflow'],
    close() {
      closing ??= end().finally(() => {
        watch.close();
        registry?.release();
      });
      return closing;
    },
  };
}

/** Number of coppices that are open in this process. */
let open_count = 0;
