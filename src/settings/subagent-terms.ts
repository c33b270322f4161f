import { DEFAULT_TERMS, type ToolsetTerms } from '../kernel/toolsets/toolset-terms.ts';
import { usableModels } from '../models/providers.ts';
import { given } from '../records/text/json-fields.ts';
import type { Settings } from './settings.ts';

/** Returns the terms for agents that agents create. */
export function subagentTerms(
  settings: Settings,
  env: Readonly<Record<string, string | undefined>> = process.env,
  own_models: readonly string[] = [],
): Pick<ToolsetTerms, 'subagents' | 'runs'> {
  const { agents, runs } = settings;
  const { allowAgents, model, models, maxConcurrent, parameters = [] } = agents?.defaults?.subagents ?? {};
  // As many runs as fit into half of the memory that is free, or that the container may have.
  const most = Math.max(100, Math.floor(process.availableMemory() / 2 / RUN_BYTES));
  const per_source = { ...DEFAULT_TERMS.runs.per_source, subagent: most, delegate: most };
  return {
    subagents: {
      allow_agents: allowAgents ?? null,
      model: model ?? null,
      models: models ?? [...own_models, ...reachableModels(settings, env)],
      max_concurrent: maxConcurrent ?? DEFAULT_TERMS.subagents.max_concurrent,
      parameters,
    },
    runs: {
      max_concurrent: runs?.maxConcurrent ?? most,
      per_source: { ...per_source, ...given(runs?.perSource ?? {}) },
    },
  };
}

/** Memory that a run may take with its conversation and its request; most take a fifth of it. */
const RUN_BYTES = 1024 * 1024;

/** Models that the settings name, and known models of providers that need no key or have one. Those of profiles are known to the kernel. */
function reachableModels(
  { model, agents, providers = {}, acp = {} }: Settings,
  env: NodeJS.ProcessEnv,
): string[] {
  const named = [model, agents?.defaults?.model, agents?.defaults?.subagents?.model];
  return [
    ...named.flatMap((name) => name ?? []),
    ...usableModels({ providers, env }),
    ...Object.keys(acp).flatMap((name) => [`acp:${name}`, `acp:${name}/*`]),
  ];
}
