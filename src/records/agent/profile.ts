import type { AgentConfig, PermissionRules } from './agent.ts';
import type { BudgetTerms } from './budget.ts';

/** Parameters that models are sent only where a profile or the configuration asks for them (docs/vocabularies.md). */
export const ASKED_PARAMETERS = ['output_schema', 'read_first'] as const;

/** A named agent setup. A null field is inherited from the creator. */
export interface Profile {
  /** Kebab-case. */
  readonly name: string;
  /** Empty when there is none. */
  readonly description: string;
  readonly model: string | null;
  /** Models for when its provider takes no requests; absent: inherited. */
  readonly fallback?: readonly string[];
  readonly thinking: AgentConfig['thinking'] | null;
  readonly toolsets: readonly string[] | null;
  /** Allowed tools; a child gets only those that its parent also has. */
  readonly tools: readonly string[] | null;
  readonly deny_tools: readonly string[];
  readonly system: string | null;
  /** Whether its agents get the instructions of the project and the user (docs/instructions.md). */
  readonly instructions: boolean;
  /** Names of the skills that its agents may use; null: all. */
  readonly skills: readonly string[] | null;
  /** Parameters that its model is sent only because it asks for them. */
  readonly parameters: readonly string[];
  /** Maximum model requests of one turn. */
  readonly turns: number | null;
  /** Maximum wall time of one turn, milliseconds. */
  readonly run_ms: number | null;
  readonly permissions: PermissionRules;
  readonly budget: BudgetTerms | null;
  /** Evidence that the work of its agents must provide, for example `bash:npm test exit 0`. */
  readonly require: readonly string[];
  /** Origin of the profile: `config`, `built in`, or a path relative to its folder. */
  readonly source: string;
}

/** A profile that sets nothing: everything is inherited. */
export const BLANK_PROFILE: Omit<Profile, 'name' | 'source'> = {
  description: '',
  model: null,
  thinking: null,
  toolsets: null,
  tools: null,
  deny_tools: [],
  system: null,
  instructions: true,
  skills: null,
  parameters: [],
  turns: null,
  run_ms: null,
  permissions: { allow: [], ask: [], deny: [] },
  budget: null,
  require: [],
};

/** Fields of the profile that a root keeps in its configuration, apart from prompt, tools and rules. */
export function profileFields(
  profile: Profile | null,
): Pick<AgentConfig, 'profile' | 'turns' | 'run_ms' | 'budgets' | 'require'> {
  if (profile === null) return {};
  const { name, turns, run_ms, budget, require } = profile;
  return {
    profile: name,
    ...(turns === null ? {} : { turns }),
    ...(run_ms === null ? {} : { run_ms }),
    ...(budget === null ? {} : { budgets: [{ agent_id: '', ...budget }] }),
    ...(require.length === 0 ? {} : { require }),
  };
}

/** Rules for a root created from the profile. A root has only the person above it, so calls that the profile allows need no approval (docs/profiles.md). */
export function rootProfileRules({
  permissions,
}: Profile): Pick<AgentConfig['permissions'], 'granted' | 'narrowed'> {
  return { granted: permissions.allow, narrowed: [permissions] };
}
