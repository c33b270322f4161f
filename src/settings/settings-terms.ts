import { DEFAULT_TERMS, type ToolsetTerms } from '../kernel/toolsets/toolset-terms.ts';
import type { Settings } from './settings.ts';

/** The settings for agents that agents create. */
export function settingsTerms({ agents, runs }: Settings): Pick<ToolsetTerms, 'subagents' | 'runs'> {
  const { allowAgents, model, maxConcurrent } = agents?.defaults?.subagents ?? {};
  const { cron, subagent, delegate } = { ...DEFAULT_TERMS.runs.per_source, ...given(runs?.perSource ?? {}) };
  return {
    subagents: {
      allow_agents: allowAgents ?? null,
      model: model ?? null,
      max_concurrent: maxConcurrent ?? DEFAULT_TERMS.subagents.max_concurrent,
    },
    runs: {
      max_concurrent: runs?.maxConcurrent ?? DEFAULT_TERMS.runs.max_concurrent,
      per_source: { cron, subagent, delegate },
    },
  };
}

/** Without keys whose value is undefined. */
export function given<T extends object>(values: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;
}
