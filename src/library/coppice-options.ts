import type { Model } from '../models/model.ts';
import type { AgentConfig, PermissionRules } from '../records/agent/agent.ts';
import type { Limits } from '../records/agent/limits.ts';
import type { Profile } from '../records/agent/profile.ts';
import { CoppiceError } from '../records/coppice-error.ts';
import type { Tool } from '../records/tool.ts';
import { noSuchName } from '../render/nearest-name.ts';
import { checkSettings } from '../settings/check-settings.ts';
import { type Settings, settings } from '../settings/settings.ts';
import type { ToolRegistry } from './tool-definition.ts';

/** A profile; fields left out are inherited from the creator of the agent. */
export type ProfileOptions = Pick<Profile, 'name'> &
  Partial<Omit<Profile, 'name' | 'permissions' | 'source'>> & {
    readonly permissions?: Partial<PermissionRules>;
  };

/**
 * The keys of the configuration file (`providers`, `acp`, `agents`, `runs`, `env_allow`), and options that only a
 * program can give. The options below override those of `agents.defaults` (`toolsets`, `limits`, …).
 */
export interface CoppiceOptions extends Omit<Settings, 'database' | 'model'> {
  /** `sqlite:PATH` or `postgres://…`. Created when it does not exist. */
  readonly database: string;
  /** `provider/model` for agents without one; `agents.defaults.model` overrides it. */
  readonly model: string;
  /** Your own models by name; they override providers. */
  readonly models?: Readonly<Record<string, Model>>;
  /** Environment in which keys and folders are looked up. Default: `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Your own tools, made with `defineTool`; agents may use them without approval. */
  readonly tools?: readonly Tool[];
  /** More of your own tools; with `registerSubagentTools` agents may also delegate. A registry belongs to one open coppice. */
  readonly registry?: ToolRegistry;
  /** How agents work together: process, slash, fanout, sessions, delegate. Default: process. */
  readonly toolsets?: readonly string[];
  /** For `AgentOptions.profile`, and for agents that create others. */
  readonly profiles?: readonly ProfileOptions[];
  /** Names of built-in tools that agents see: bash, read, write, patch, search, think, read_image. Default: read, search, think. */
  readonly builtInTools?: readonly string[];
  /** Folder of the agents. Default: the current one. */
  readonly cwd?: string;
  /** Rules such as `bash:git *`; calls that would need approval are denied. */
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
  /** Default: `CoppiceOptions.toolsets`. */
  readonly toolsets?: readonly string[];
  /** Name of one of `CoppiceOptions.profiles`; the options here override it. */
  readonly profile?: string;
  readonly limits?: Partial<Limits>;
}

/** Options that only a program can give. */
const OWN: Readonly<Record<Exclude<keyof CoppiceOptions, keyof typeof settings.shape>, true>> = {
  models: true,
  env: true,
  tools: true,
  registry: true,
  toolsets: true,
  profiles: true,
  builtInTools: true,
  cwd: true,
  permissions: true,
  limits: true,
  system: true,
  thinking: true,
};

/** Keys of the configuration file that have no meaning for a program, and why. */
export const COMMAND_LINE_ONLY: Readonly<Record<string, string>> = {
  channels: 'coppice serve delivers to people and listens to them',
  keys: 'they are keys of the terminal UI',
  tui: 'the terminal UI shows it',
  server: 'coppice serve answers HTTP',
  alerts: 'coppice serve watches for them',
  skills: 'the command line reads such folders; a program defines tools',
  merge: 'coppice merge uses it',
  instructions: 'the command line reads such files; a program says them with "system"',
};

const OF_AGENT: Readonly<Record<keyof AgentOptions, true>> = {
  prompt: true,
  name: true,
  model: true,
  system: true,
  toolsets: true,
  profile: true,
  limits: true,
};

/** Throws for an unknown option of an agent, and for a prompt that is not a string. */
export function checkAgentOptions(options: Partial<AgentOptions> = {}, method = 'start'): void {
  if (typeof options.prompt !== 'string')
    throw new CoppiceError('E_INVALID_ARGUMENT', 'start needs the option "prompt": a text');
  const known = Object.keys(OF_AGENT);
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw noSuchName('E_CONFIG', `${method} has no option`, unknown, known, 'Options');
}

/** Throws `E_CONFIG` for a missing database, for an unknown option and for a setting that the configuration file would not accept. */
export function checkOptions(options: Partial<CoppiceOptions> = {}): void {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  const known = [...Object.keys(settings.shape), ...Object.keys(OWN)];
  for (const [name] of given) {
    if (known.includes(name)) continue;
    const why = Object.hasOwn(COMMAND_LINE_ONLY, name) ? COMMAND_LINE_ONLY[name] : undefined;
    throw why === undefined
      ? noSuchName('E_CONFIG', 'openCoppice has no option', name, known, 'Options')
      : new CoppiceError('E_CONFIG', `openCoppice has no option "${name}": ${why}`);
  }
  if (options.database === undefined)
    throw new CoppiceError('E_CONFIG', 'openCoppice needs the option "database"', {
      hint: 'sqlite:PATH or postgres://…',
    });
  for (const [place, tool] of (options.tools ?? []).entries())
    if (typeof tool?.spec?.name !== 'string')
      throw new CoppiceError('E_CONFIG', `openCoppice: tools[${place}] is not a tool`, {
        hint: 'Make it with defineTool; built-in tools are named in "builtInTools"',
      });
  checkSettings(
    settings,
    Object.fromEntries(given.filter(([name]) => Object.hasOwn(settings.shape, name))),
    'of openCoppice',
  );
}
