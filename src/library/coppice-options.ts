import type { Model } from '../models/model.ts';
import type { AgentConfig, PermissionRules } from '../records/agent/agent.ts';
import type { Limits } from '../records/agent/limits.ts';
import type { Profile } from '../records/agent/profile.ts';
import type { Tool } from '../records/tool.ts';
import type { Settings } from '../settings/settings.ts';
import type { ToolRegistry } from './tool-registry.ts';

/** A profile: what is left out is as whoever creates the agent. */
export type ProfileOptions = Pick<Profile, 'name'> &
  Partial<Omit<Profile, 'name' | 'permissions' | 'source'>> & {
    readonly permissions?: Partial<PermissionRules>;
  };

/**
 * What the configuration file takes, by the same names (`providers`, `acp`, `agents`, `runs`, `env_allow`), and what only a program can give. An option that
 * stands here on its own (`toolsets`, `limits`, …) goes before the same one of `agents.defaults`.
 */
export interface CoppiceOptions extends Omit<Settings, 'database' | 'model'> {
  /** `sqlite:PATH` or `postgres://…`. Created when it does not exist. */
  readonly database: string;
  /** `provider/model` for agents that name none; `agents.defaults.model` goes before it. */
  readonly model: string;
  /** Models of one's own by name; they go before providers. */
  readonly models?: Readonly<Record<string, Model>>;
  /** Where keys are looked up. Default `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Tools of one's own, made with `defineTool`; agents may use them without asking. */
  readonly tools?: readonly Tool[];
  /** More tools of one's own; with `registerSubagentTools` agents may also delegate. One registry belongs to one open coppice. */
  readonly registry?: ToolRegistry;
  /** How agents work with others: process, slash, fanout, sessions, delegate. Default: process. */
  readonly toolsets?: readonly string[];
  /** Named kinds of agents, for `AgentOptions.profile` and for agents that create others. */
  readonly profiles?: readonly ProfileOptions[];
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
  /** Default: those of the coppice. */
  readonly toolsets?: readonly string[];
  /** One of `CoppiceOptions.profiles`; what stands here goes before what it says. */
  readonly profile?: string;
  readonly limits?: Partial<Limits>;
}
