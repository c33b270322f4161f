import type { AgentConfig, PermissionRules } from './agent.ts';

/** A named way to set up an agent. Null everywhere means: as whoever creates it. */
export interface Profile {
  /** Kebab-case. */
  readonly name: string;
  /** Empty when there is none. */
  readonly description: string;
  readonly model: string | null;
  readonly thinking: AgentConfig['thinking'] | null;
  readonly toolsets: readonly string[] | null;
  /** Allowed tools; a child gets those of them that its parent has. */
  readonly tools: readonly string[] | null;
  readonly deny_tools: readonly string[];
  readonly system: string | null;
  /** Model requests of one turn. */
  readonly turns: number | null;
  /** Wall time of one turn, milliseconds. */
  readonly run_ms: number | null;
  readonly permissions: PermissionRules;
  /** Where it was read: `config`, `built in`, or a path relative to its folder. */
  readonly source: string;
}

/** A root that is set up by the profile: nobody stands above it but the person, so what the profile allows needs no approval (docs/profiles.md). */
export function rootProfileRules({
  permissions,
}: Profile): Pick<AgentConfig['permissions'], 'granted' | 'narrowed'> {
  return { granted: permissions.allow, narrowed: [permissions] };
}
