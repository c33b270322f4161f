import * as z from 'zod';
import { toolsetClash } from '../kernel/toolsets/toolset.ts';
import type { Model, SdkModel } from '../models/model.ts';
import type { AgentConfig, PermissionRules } from '../records/agent/agent.ts';
import type { BudgetTerms } from '../records/agent/budget.ts';
import type { Limits } from '../records/agent/limits.ts';
import type { Profile } from '../records/agent/profile.ts';
import { CoppiceError } from '../records/coppice-error.ts';
import { jsonType } from '../records/text/json-text.ts';
import type { Tool } from '../records/tool.ts';
import { noSuchName } from '../render/nearest-name.ts';
import { checkGiven, checkSettings } from '../settings/check-settings.ts';
import { agentSettings, budgetSettings, type Settings, settings } from '../settings/settings.ts';
import { TOOL } from '../tools/define-tool.ts';
import type { OnApproval } from './approvals.ts';
import { abortText, checkPatience, type Patience } from './engine.ts';
import type { ToolRegistry } from './tool-definition.ts';

export const TOOLSETS = ['process', 'slash', 'fanout', 'sessions', 'delegate', 'tasks', 'workflow'] as const;
export type ToolsetName = (typeof TOOLSETS)[number];

export const BUILT_IN_TOOLS = [
  ...(['bash', 'read', 'write', 'patch', 'search', 'think'] as const),
  ...(['read_image', 'web_fetch', 'web_search'] as const),
] as const;
export type BuiltInTool = (typeof BUILT_IN_TOOLS)[number];

/** A picture: the path of a file, or its bytes (PNG, JPEG, WebP or GIF). */
export type Picture = string | Uint8Array;

/** A profile; fields left out are inherited from the creator of the agent. */
export type ProfileOptions<Named = string | SdkModel> = Pick<Profile, 'name'> &
  Partial<Omit<Profile, 'name' | 'model' | 'permissions' | 'source'>> & {
    readonly model?: Named | null;
    readonly permissions?: Partial<PermissionRules>;
  };

/**
 * The keys of the configuration file (`providers`, `acp`, `agents`, `runs`, `env_allow`), and options that only a
 * program can give. The options below override those of `agents.defaults` (`toolsets`, `limits`, …).
 */
export interface CoppiceOptions extends Omit<Settings, 'database' | 'model'> {
  /** `sqlite:PATH` or `postgres://…`. Created when it does not exist. */
  readonly database: string;
  /** `provider/model` for agents without one, or a model object of the AI SDK; `agents.defaults.model` overrides it. */
  readonly model: string | SdkModel;
  /** Your own models by name, also objects of the AI SDK; they override providers. */
  readonly models?: Readonly<Record<string, Model | SdkModel>>;
  /** Environment in which keys and folders are looked up. Default: `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Your own tools, made with `defineTool`; agents may use them without approval. */
  readonly tools?: readonly Tool[];
  /** More of your own tools; with `registerSubagentTools` agents may also delegate. A registry belongs to one open coppice. */
  readonly registry?: ToolRegistry;
  /** How agents work together. Default: process. */
  readonly toolsets?: readonly ToolsetName[];
  /** For `AgentOptions.profile`, and for agents that create others. */
  readonly profiles?: readonly ProfileOptions[];
  /** Built-in tools that agents see. Default: read, search, think. */
  readonly builtInTools?: readonly BuiltInTool[];
  /** Folder of the agents. Default: the current one. */
  readonly cwd?: string;
  /** Rules such as `bash:git *`. */
  readonly permissions?: Partial<PermissionRules>;
  /** Answers calls that need approval, which are denied without it; `queue`: they wait for `answer`, or anybody else at this ledger. */
  readonly onApproval?: OnApproval | 'queue';
  readonly limits?: Partial<Limits>;
  readonly system?: string;
  readonly thinking?: AgentConfig['thinking'];
}

/** The options, with the names by which the ledger knows the models. */
export type NamedOptions = Omit<CoppiceOptions, 'model' | 'profiles'> & {
  readonly model: string;
  readonly profiles?: readonly ProfileOptions<string>[];
};

/** What one agent may be given; what it is not given is as for all agents of this coppice. */
export interface AgentOptions extends Patience {
  readonly prompt: string;
  /** Pictures beside the prompt. */
  readonly images?: readonly Picture[];
  /** Default `main`. */
  readonly name?: string;
  /** `provider/model`, a name of `CoppiceOptions.models`, or a model object of the AI SDK. */
  readonly model?: string | SdkModel;
  readonly system?: string;
  readonly thinking?: AgentConfig['thinking'];
  readonly toolsets?: readonly ToolsetName[];
  /** Names of the tools that it sees: built-in ones, your own, those of MCP servers. */
  readonly tools?: readonly (BuiltInTool | (string & {}))[];
  readonly cwd?: string;
  /** Rules that come before those of `CoppiceOptions.permissions`. */
  readonly permissions?: Partial<PermissionRules>;
  /** Name of one of `CoppiceOptions.profiles`; the options here override it. */
  readonly profile?: string;
  /** What it and all agents below it may spend. */
  readonly budget?: BudgetTerms;
  readonly limits?: Partial<Limits>;
  /** Aborting it kills the agent and all below it. */
  readonly signal?: AbortSignal;
  /** How long it and all agents below it may work; written to the ledger, so that it holds after a restart, too. */
  readonly timeout_ms?: number;
}

/** Keys of the configuration file that have no meaning for a program, and why. */
export const COMMAND_LINE_ONLY: Readonly<Record<string, string>> = {
  channels: 'coppice serve delivers to people and listens to them',
  keys: 'they are keys of the terminal UI',
  tui: 'the terminal UI shows it',
  server: 'coppice serve answers HTTP',
  hooks: 'coppice serve takes what other programs send (for hooks at calls: agentHooks)',
  alerts: 'coppice serve watches for them',
  skills: 'the command line reads such folders; a program defines tools',
  merge: 'coppice merge uses it',
  instructions: 'the command line reads such files; a program says them with "system"',
};

const { system, thinking, limits, permissions } = agentSettings.shape;
const common = {
  ...{ system, thinking, limits, permissions },
  toolsets: z.array(z.enum(TOOLSETS)).optional(),
  cwd: z.string().min(1).optional(),
};

/** Checked where it is used. */
const whatever = z.unknown().optional();

const isModel = (one: unknown) => typeof (one as Model | null)?.stream === 'function' || isSdkModel(one);

/** Whether it is a model object of the AI SDK, in a version that is understood. */
export function isSdkModel(one: unknown): one is SdkModel {
  const { specificationVersion: version, provider, modelId, doStream } = (one ?? {}) as Partial<SdkModel>;
  const has_names = [provider, modelId].every((name) => typeof name === 'string' && name !== '');
  return (version === 'v3' || version === 'v4') && has_names && typeof doStream === 'function';
}

/** The name of a model that has none in `models`. */
export function modelName(model: string | SdkModel): string {
  return typeof model === 'string' ? model : `${model.provider}/${model.modelId}`;
}

export function namedProfiles(
  { profiles = [] }: Pick<CoppiceOptions, 'profiles'>,
  nameOf: typeof modelName,
): readonly ProfileOptions<string>[] {
  return profiles.map((one) => ({ ...one, model: one.model ? nameOf(one.model) : null }));
}

const NO_OWN_MODEL = 'is no model: createScriptedModel makes one, or the AI SDK (version 6 or 7)';
const NO_MODEL = 'must be provider/model, or a model object of the AI SDK (version 6 or 7)';
export const modelSetting = z
  .custom<string | SdkModel>((one) => typeof one === 'string' || isSdkModel(one), NO_MODEL)
  .optional();

/** Options that only a program can give. */
const ownOptions = z.object({
  ...common,
  builtInTools: z.array(z.enum(BUILT_IN_TOOLS)).optional(),
  onApproval: z
    .custom((one) => one === 'queue' || typeof one === 'function', "must be a function, or 'queue'")
    .optional(),
  models: z.record(z.string(), z.custom<Model | SdkModel>(isModel, NO_OWN_MODEL)).optional(),
  // `process.env` is no plain object.
  env: z.custom((one) => jsonType(one) === 'object', 'must be an object').optional(),
  tools: z.array(TOOL).optional(),
  profiles: z.array(z.looseObject({ name: z.string(), model: modelSetting.nullable() })).optional(),
  registry: whatever,
} satisfies Readonly<Record<Exclude<keyof CoppiceOptions, keyof typeof settings.shape>, z.ZodType>>);

export const OPTIONS_OF_COPPICE = [...Object.keys(settings.shape), ...Object.keys(ownOptions.shape)];

const isPicture = (one: unknown) => typeof one === 'string' || one instanceof Uint8Array;
const agentOptions = z.object({
  ...common,
  prompt: z.string(),
  images: z.array(z.custom(isPicture, 'must be the path of a file, or bytes')).optional(),
  ...{ name: z.string().optional(), model: modelSetting, profile: z.string().optional() },
  tools: z.array(z.string()).optional(),
  budget: budgetSettings.optional(),
  ...{ signal: whatever, timeout_ms: whatever },
} satisfies Readonly<Record<keyof AgentOptions, z.ZodType>>);
export const OPTIONS_OF_AGENT = Object.keys(agentOptions.shape);
/** Of workflows and chats. */
export const OPTIONS_OF_RUN = OPTIONS_OF_AGENT.filter((name) => name !== 'images' && name !== 'signal');

/** Throws, with what is wrong and what to do, for options of an agent that cannot be meant. `known`: those of this method. */
export function checkAgentOptions(
  options: Partial<AgentOptions> = {},
  method = 'start',
  known = OPTIONS_OF_AGENT,
): void {
  if (typeof options?.prompt !== 'string')
    throw new CoppiceError('E_INVALID_ARGUMENT', `${method} needs the option "prompt": a text`);
  checkGiven(agentOptions, options, method, known);
  checkPatience(options, method);
  const { signal } = options;
  if (signal?.aborted === true) throw new CoppiceError('E_ABORTED', `${method}: ${abortText(signal)}`);
}

/** Throws `E_CONFIG` for a missing database or model, for an unknown option and for a value that cannot be meant. */
export function checkOptions(options: Partial<CoppiceOptions> = {}): void {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  const known = OPTIONS_OF_COPPICE;
  for (const [name] of given) {
    if (known.includes(name)) continue;
    const why = Object.hasOwn(COMMAND_LINE_ONLY, name) ? COMMAND_LINE_ONLY[name] : undefined;
    throw why === undefined
      ? noSuchName('E_CONFIG', 'openCoppice has no option', name, known, 'Options')
      : new CoppiceError('E_CONFIG', `openCoppice has no option "${name}": ${why}`);
  }
  for (const [name, value, hint] of [
    ['database', options.database, 'sqlite:PATH or postgres://…'],
    [
      'model',
      options.agents?.defaults?.model ?? options.model,
      'provider/model, such as anthropic/claude-sonnet-4-5, a name of "models", or a model object of the AI SDK',
    ],
  ] as const)
    if (value === undefined)
      throw new CoppiceError('E_CONFIG', `openCoppice needs the option "${name}"`, { hint });
  const where = 'of openCoppice';
  checkSettings(z.looseObject({ model: modelSetting }), { model: options.model }, where);
  checkSettings(ownOptions, options, where);
  const clash = toolsetClash(options.toolsets ?? []);
  if (clash !== null)
    throw new CoppiceError('E_CONFIG', `toolsets ${where}: ${clash}`, { hint: 'Choose one of them' });
  checkSettings(
    settings,
    Object.fromEntries(given.filter(([name]) => Object.hasOwn(settings.shape, name) && name !== 'model')),
    where,
  );
}
