/**
 * The library: open a runtime on a ledger with your own tools and models, start agents, stream events, send mail, wait for results, kill,
 * close. See examples/library.ts. `openClient` does the same through the HTTP API of a server.
 */

import type { CoppiceOptions } from './library/coppice-options.ts';
import { type Coppice, openOn } from './library/open-coppice.ts';

export type { DocumentOf } from './documents/shapes/all-documents.ts';
export type { EventDocument } from './documents/shapes/event-documents.ts';
export type { RootOptions } from './library/agents.ts';
export type { Approval, ApprovalAnswer, OnApproval } from './library/approvals.ts';
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
export type { Coppice } from './library/open-coppice.ts';
export type { AgentOutcome, OutputSchema, TypedSchema } from './library/output.ts';
export { createToolRegistry } from './library/registry.ts';
export type { Chat, ChatOptions, ChatRequest } from './library/streams/chat.ts';
export type { Stream, StreamOptions, TextPiece, TreeEvent } from './library/streams/streams.ts';
export type { UIAgent, UIMessageChunk } from './library/streams/ui-chunks.ts';
export type { UIMessage } from './library/streams/ui-messages.ts';
export type { UIStreamOptions } from './library/streams/ui-stream.ts';
export { registerSubagentTools } from './library/subagents/register-subagent-tools.ts';
export type {
  SubagentCallbacks,
  SubagentInfo,
  SubagentResult,
  SubagentToolsOptions,
} from './library/subagents/subagent-options.ts';
export type {
  ToolArguments,
  ToolCallRequest,
  ToolCallResult,
  ToolCategory,
  ToolDefinition,
  ToolHandler,
  ToolParameter,
  ToolParameters,
  ToolRegistry,
} from './library/tool-definition.ts';
export type {
  RunningWorkflow,
  WorkflowOptions,
  WorkflowOutcome,
  Workflows,
} from './library/workflows.ts';
export type { Model, ModelDelta, ModelOutcome, ModelRequest, SdkModel } from './models/model.ts';
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

/** Opens the ledger and a runtime on it. Rejects with a `CoppiceError` or a `StoreError`. */
export function openCoppice(options: CoppiceOptions): Promise<Coppice> {
  return openOn(options);
}
