/**
 * The engine alone (`coppice/core`): kernel, runtime and SQLite, for programs with their own tools, models, ledgers and toolsets. `coppice`
 * adds settings, providers, built-in tools and other programs to it. See docs/core.md.
 */

import * as z from 'zod';
import { refuse } from './kernel/toolsets/acts/agent-reference.ts';
import { ALL_TOOLSETS } from './kernel/toolsets/all-toolsets.ts';
import { checkedTool } from './kernel/toolsets/arguments.ts';
import type { Decision, Toolset } from './kernel/toolsets/toolset.ts';
import { type Engine, engineOn, refuseOldNode } from './library/engine.ts';
import type { Model } from './models/model.ts';
import { toolPermission } from './permissions/tool-permission.ts';
import { type AgentConfig, type PermissionRules, THINKING } from './records/agent/agent.ts';
import { CoppiceError } from './records/coppice-error.ts';
import type { Tool, ToolPermission } from './records/tool.ts';
import { noSuchName } from './render/nearest-name.ts';
import { openRuntime } from './runtime/open-runtime.ts';
import type { StartOptions } from './runtime/runtime-face.ts';
import { checkGiven } from './settings/check-settings.ts';
import { dataFolder, outputFolder, settingsPlaces } from './settings/folders.ts';
import { databaseAddress } from './store/database-address.ts';
import { openSqliteStore } from './store/sqlite/sqlite-store.ts';
import type { Store } from './store/store.ts';
import { StoreError } from './store/store-error.ts';
import { checkRules } from './tools/built-in-permissions.ts';
import { checkDefinition, FUNCTION, freeTools, TOOL } from './tools/define-tool.ts';

export { type ForkPlan, forkAgent, forkNeeds } from './kernel/toolsets/acts/fork-agent.ts';
export { sendLetter } from './kernel/toolsets/acts/send-letter.ts';
export type { Decision, RefusalCode, Toolset, ToolsetTool, ToolsetView } from './kernel/toolsets/toolset.ts';
export type { Engine, RunningAgent } from './library/engine.ts';
export type { Model, ModelDelta, ModelOutcome, ModelRequest } from './models/model.ts';
export type { Agent } from './records/agent/agent.ts';
export { CoppiceError } from './records/coppice-error.ts';
export type { Tool, ToolContext, ToolResult } from './records/tool.ts';
export type { RuntimeEvent } from './runtime/runtime-event.ts';
export type { ResumeOptions, ResumeReport, TreeOutcome } from './runtime/runtime-face.ts';
export type { Store } from './store/store.ts';
export { defineTool } from './tools/define-tool.ts';
export { refuse, StoreError };

export interface CoreOptions {
  /** The open ledger: `openSqlite(path)`, or your own. Who opened it closes it, after `close`. */
  readonly store: Store;
  /** Your models by name, or a function that opens one at its first use; it may reject with a `CoppiceError`. */
  readonly models: Readonly<Record<string, Model>> | ((name: string) => Model | Promise<Model>);
  /** Your tools, made with `defineTool`; agents may use them without approval, unless `permissions` says otherwise. */
  readonly tools?: readonly Tool[];
  /** Your toolsets, beside `process`, `slash`, `fanout`, `sessions`, `delegate` and `tasks`. */
  readonly toolsets?: readonly Toolset[];
  /** Folder for git worktrees and for output that is too large for a result. Default: as for `openCoppice`. */
  readonly folder?: string;
}

/** Defaults: the name `main`, no system prompt, all tools of `CoreOptions`, the toolset `process`, the current folder. */
export interface CoreAgentOptions
  extends Pick<StartOptions, 'prompt' | 'name' | 'limits'>,
    Partial<Pick<AgentConfig, 'system' | 'thinking' | 'tools' | 'toolsets' | 'cwd'>> {
  /** Name of one of your models. */
  readonly model: string;
  /** Rules for calls; those that would need approval are denied. */
  readonly permissions?: Partial<PermissionRules>;
}

/** Makes a tool of a toolset whose `decode` and `needs` see only valid arguments. Throws `E_INVALID_ARGUMENT` for a definition that is none. */
export const defineToolsetTool: typeof checkedTool = (tool) => {
  checkDefinition(TOOLSET_TOOL, tool);
  return checkedTool({
    ...tool,
    decode(...given) {
      const decision: Partial<Decision> | undefined = tool.decode(...given);
      if (DECISIONS.includes(String(decision?.type))) return decision as Decision;
      return refuse('INTERNAL', `the "decode" of ${tool.name} gave no decision (${DECISIONS.join(', ')})`);
    },
  });
};
const DECISIONS = ['settle', 'refuse', 'park', 'delegate'];
const TOOLSET_TOOL = z.looseObject({
  ...{ name: z.string(), description: z.string(), decode: FUNCTION },
  schema: z.custom((one) => one instanceof z.ZodType, 'must be a schema of zod'),
});

/** A runtime on your ledger. */
export type Core = Engine<CoreAgentOptions>;

/** Opens a runtime on an open ledger, which its `close` leaves open. */
export async function openCore(options: CoreOptions): Promise<Core> {
  refuseOldNode();
  const opens = typeof options?.models === 'function';
  checkGiven(OPTIONS, opens ? { ...options, models: {} } : options, 'openCore');
  const { store, models, tools = [], toolsets = [], folder } = options;
  const all = [...ALL_TOOLSETS, ...toolsets];
  refuseTwice(all.map(({ name }) => name));
  refuseTwice([...all.flatMap((one) => one.tools), ...tools].map(({ spec }) => spec.name));
  const runtime = await openRuntime({
    ...{ store, tools, toolsets: all, env_allow: [] },
    openModel: (name) => openOwn(models, name),
    spill_dir: folder ?? outputFolder(dataFolder(process.env)),
    settings: settingsPlaces(undefined, process.env),
  });
  const acting = toolsets.flatMap((one) => one.tools);
  const judged = acting.map(({ spec }) => toolPermission(spec.name, { subject: 'agents' }));
  const known = [...tools.map(({ permission }) => permission), ...judged];
  const engine = engineOn<CoreAgentOptions>(runtime, (agent) => rootOf(agent, tools, known));
  return {
    ...engine,
    async resume(root_id, how = {}) {
      checkGiven(RESUME, how, 'resume');
      return engine.resume(root_id, how);
    },
  };
}

const isModel = (one: unknown) => typeof (one as Model | null)?.stream === 'function';
const NO_MODEL = 'is no model: it needs "stream" (docs/core.md); models of the AI SDK are for openCoppice';
const OPTIONS = z.object({
  store: z.custom(
    (one) => typeof (one as Store | null)?.commit === 'function',
    'must be an open ledger: await openSqlite(path)',
  ),
  models: z.record(z.string(), z.custom(isModel, NO_MODEL)),
  tools: z.array(TOOL).optional(),
  toolsets: z
    .array(
      z.looseObject({
        ...{ name: z.string(), guidance: z.string() },
        tools: z.array(z.looseObject({ spec: z.looseObject({ name: z.string() }) })),
      }),
    )
    .optional(),
  folder: z.string().min(1).optional(),
} satisfies Readonly<Record<keyof CoreOptions, z.ZodType>>);

const [text, texts, yes] = [z.string().optional(), z.array(z.string()).optional(), z.boolean().optional()];
const limits = z.record(z.string(), z.unknown()).optional();
const ROOT = z.object({
  ...{ prompt: z.unknown().optional(), model: z.unknown().optional(), name: text, system: text, limits },
  ...{ thinking: z.enum(THINKING).optional(), tools: texts, toolsets: texts, cwd: text },
  permissions: z.partialRecord(z.enum(['allow', 'ask', 'deny']), z.array(z.string())).optional(),
} satisfies Readonly<Record<keyof CoreAgentOptions, z.ZodType>>);
const RESUME = z.object({ retry: yes, without_last: yes, unattended: yes, model: text, limits });

/** Opens the ledger in a SQLite file; creates and migrates it when needed. Rejects with a `StoreError`. */
export async function openSqlite(path: string): Promise<Store> {
  refuseOldNode();
  const address = databaseAddress(path);
  if (address.kind === 'sqlite') return openSqliteStore(address.path, {});
  throw new StoreError('E_DB_URL', 'openSqlite opens a file: PostgreSQL needs openCoppice');
}

function rootOf(options: CoreAgentOptions, all: readonly Tool[], known: ToolPermission[]): StartOptions {
  checkGiven(ROOT, options, 'start');
  const own = all.map(({ spec }) => spec.name);
  const { prompt, model, name = 'main', system = '', thinking = 'off', limits = {}, ...others } = options;
  const { tools = own, toolsets = ['process'], cwd = process.cwd(), permissions = {} } = others;
  if (typeof prompt !== 'string' || typeof model !== 'string')
    throw new CoppiceError('E_INVALID_ARGUMENT', 'start needs the options "prompt" and "model": texts');
  checkRules(permissions, known, (verdict) => `permissions.${verdict} of start`);
  const none = { allow: [], ask: [], deny: [] };
  const config = { ...none, ...permissions, allow: [...freeTools(all), ...(permissions.allow ?? [])] };
  const names = { tools: [...new Set(tools)], toolsets: [...new Set(toolsets)] };
  return {
    ...{ prompt, name, limits },
    config: { model, thinking, system, ...names, cwd, permissions: { cli: none, config } },
  };
}

async function openOwn(models: CoreOptions['models'], name: string): Promise<Model> {
  const own = typeof models !== 'function' && Object.hasOwn(models, name) ? models[name] : undefined;
  const model = typeof models === 'function' ? await models(name) : own;
  if (isModel(model)) return model as Model;
  if (typeof models === 'function')
    throw new CoppiceError('E_CONFIG', `what "models" of openCore gave for "${name}" ${NO_MODEL}`);
  throw noSuchName('E_MODEL_UNKNOWN', 'no model called', name, Object.keys(models), 'Models');
}

function refuseTwice(names: readonly string[]): void {
  const twice = names.find((name, at) => names.indexOf(name) < at);
  if (twice !== undefined) throw new CoppiceError('E_CONFIG', `openCore: the name "${twice}" is taken`);
}
