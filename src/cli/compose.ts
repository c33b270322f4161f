import { join, resolve } from 'node:path';
import type { AgentConfig, PermissionRules } from '../core/agent.ts';
import type { Limits } from '../core/limits.ts';
import type { Gate } from '../models/gate.ts';
import type { Model } from '../models/model.ts';
import { openModel } from '../models/providers.ts';
import { openRuntime } from '../runtime/open-runtime.ts';
import type { RuntimeFace } from '../runtime/runtime-face.ts';
import type { Store } from '../store/store.ts';
import { createPolicy } from '../tools/permission-policy.ts';
import { killProcessesOfDeadRuntimes } from '../tools/stray-processes.ts';
import { createBuiltInTools } from '../tools/tool-registry.ts';
import type { Context } from './context.ts';
import { DEFAULT_SYSTEM_PROMPT } from './system-prompt.ts';

export interface Permissions {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly yes: boolean;
}

/** The runtime of one command: models by the configuration, all built-in tools. `extra` are models that only this command knows. */
export async function composeRuntime(
  context: Context,
  store: Store,
  extra: ReadonlyMap<string, Model> = new Map(),
): Promise<RuntimeFace> {
  const { configuration } = context.loaded;
  const gates = new Map<string, Gate>();
  // What a killed predecessor left running must not go on beside its successor.
  killProcessesOfDeadRuntimes();
  return openRuntime({
    store,
    openModel: async (name) =>
      extra.get(name) ??
      openModel(name, { providers: configuration.providers ?? {}, env: context.env, gates }),
    tools: createBuiltInTools(),
    spill_dir: join(context.data_folder, 'output'),
    env_allow: configuration.env_allow ?? [],
  });
}

/** What a root agent of this command is created with. Throws for a rule that cannot be read. */
export function composeConfig(
  context: Context,
  model: string,
  permissions: Permissions,
  options: { readonly thinking?: AgentConfig['thinking']; readonly toolsets?: readonly string[] },
): AgentConfig {
  const defaults = context.loaded.configuration.agents?.defaults ?? {};
  const config: AgentConfig = {
    model,
    thinking: options.thinking ?? defaults.thinking ?? 'off',
    system: defaults.system ?? DEFAULT_SYSTEM_PROMPT,
    toolsets: options.toolsets ?? defaults.toolsets ?? ['process'],
    tools: defaults.tools ?? createBuiltInTools().map((tool) => tool.spec.name),
    cwd: resolve(context.options.cwd ?? '.'),
    permissions: {
      cli: {
        allow: permissions.yes ? ['*', ...permissions.allow] : permissions.allow,
        ask: [],
        deny: permissions.deny,
      },
      config: rulesOf(defaults.permissions),
    },
  };
  createPolicy(config.permissions);
  return config;
}

function rulesOf(
  rules:
    | { allow?: string[] | undefined; ask?: string[] | undefined; deny?: string[] | undefined }
    | undefined,
): PermissionRules {
  return { allow: rules?.allow ?? [], ask: rules?.ask ?? [], deny: rules?.deny ?? [] };
}

/** Limits of the configuration, then those of the command line. */
export function composeLimits(context: Context, named: Partial<Limits>): Partial<Limits> {
  const configured = context.loaded.configuration.agents?.defaults?.limits ?? {};
  const set = Object.entries(configured).filter(([, value]) => value !== undefined);
  return { ...(Object.fromEntries(set) as Partial<Limits>), ...named };
}
