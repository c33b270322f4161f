import type { AgentConfig } from '../../../records/agent/agent.ts';
import type { PathBudget } from '../../../records/agent/budget.ts';
import type { Profile } from '../../../records/agent/profile.ts';
import { profileSkills } from '../../../records/agent/skill.ts';
import type { TaskTerms, Worktree } from '../../../records/agent/task-terms.ts';
import { commonTools, withoutTools } from '../../../records/server-tools.ts';
import { given } from '../../../records/text/json-fields.ts';

/** Settings for a new child; null or absent: not set. */
export interface ChildWishes {
  readonly profile: Profile | null;
  readonly model?: string | null;
  readonly thinking?: AgentConfig['thinking'] | null;
  readonly system?: string | null;
  readonly cwd?: string | null;
  readonly turns?: number | null;
  readonly run_ms?: number | null;
  readonly task?: TaskTerms | null;
  /** Only for a child without a task. */
  readonly worktree?: Worktree | null;
  /** The child's own budget; requires `id`. */
  readonly budget?: Omit<PathBudget, 'agent_id'> | null;
  readonly id?: string;
}

/**
 * The configuration of a child: explicit settings, then its profile, then its parent's. A child may do less than its parent, never more
 * (docs/permissions.md). Without any setting it equals the parent's, so that its requests share the parent's cached prefix.
 */
export function childConfig(creator: AgentConfig, wishes: ChildWishes): AgentConfig {
  const parent =
    creator.client === undefined && creator.workflow === undefined ? creator : inherited(creator);
  const { profile, task = null, model = null, cwd = null, budget = null, id = '' } = wishes;
  const budgets = budget === null ? parent.budgets : [{ agent_id: id, ...budget }, ...(parent.budgets ?? [])];
  if (profile === null && task === null && model === null && cwd === null)
    return budgets === undefined || budget === null ? parent : { ...parent, budgets };
  const require = profile?.require ?? (task === null ? parent.require : undefined);
  return {
    model: model ?? profile?.model ?? parent.model,
    thinking: wishes.thinking ?? profile?.thinking ?? parent.thinking,
    system: wishes.system ?? profile?.system ?? parent.system,
    ...profileSkills(parent.skills, profile),
    toolsets: task === null ? (profile?.toolsets ?? parent.toolsets) : taskToolsets(parent, profile, task),
    ...toolsOf(parent, profile, task),
    cwd: cwd ?? parent.cwd,
    permissions: permissionsOf(parent, profile),
    ...given({
      fallback: profile?.fallback ?? parent.fallback,
      instructions: profile?.instructions === false ? undefined : parent.instructions,
      mcp_servers: parent.mcp_servers,
      // A fork without a profile keeps its parent's.
      profile: profile?.name ?? (task === null ? parent.profile : undefined),
      turns: least(parent.turns, profile?.turns, wishes.turns),
      run_ms: least(parent.run_ms, profile?.run_ms, wishes.run_ms),
      budgets,
      require: require?.length === 0 ? undefined : require,
      // Forks of a run on a timer start no background runs either.
      task: task ?? (parent.task?.kind === 'cron' ? parent.task : undefined),
      worktree: task === null ? (wishes.worktree ?? parent.worktree) : undefined,
      channel: parent.channel,
      unattended: parent.unattended,
    }),
  };
}

/** The configuration without what only the agent itself is. */
function inherited({ client: _, workflow: __, ...config }: AgentConfig): AgentConfig {
  return config;
}

/**
 * Toolsets of a sub-agent with a task: it creates others only by delegation, and submits if it must (`mustSubmit`). A background run keeps `sessions`
 * although its model does not see the tool, so that a call of it gets the documented refusal.
 */
function taskToolsets(parent: AgentConfig, profile: Profile | null, task: TaskTerms): string[] {
  const kept = ['delegate', 'tasks'].filter((name) => (profile?.toolsets ?? parent.toolsets).includes(name));
  const own = task.kind === 'session' ? ['sessions', ...kept] : kept;
  return task.kind === 'spawn' || task.output_schema !== null ? ['fanout', ...own] : own;
}

/** Tools that an agent with a single task cannot call: it creates no schedules and starts no workflows. */
export const NOT_OF_TASKS: readonly string[] = ['cron', 'workflow'];

/** Tools of a child. */
function toolsOf(
  parent: AgentConfig,
  profile: Profile | null,
  task: TaskTerms | null,
): Pick<AgentConfig, 'tools' | 'without_tools'> {
  const mine = task === null ? parent.tools : parent.tools.filter((name) => !NOT_OF_TASKS.includes(name));
  const { tools = null, deny_tools = [] } = profile ?? {};
  return withoutTools(tools === null ? mine : commonTools(mine, tools), deny_tools, parent.without_tools);
}

function permissionsOf({ permissions }: AgentConfig, profile: Profile | null): AgentConfig['permissions'] {
  if (profile === null || Object.values(profile.permissions).flat().length === 0) return permissions;
  return { ...permissions, narrowed: [...(permissions.narrowed ?? []), profile.permissions] };
}

/** The smallest of the given values, if there is one. */
function least(...values: readonly (number | null | undefined)[]): number | undefined {
  const said = values.filter((value) => value !== null && value !== undefined);
  return said.length === 0 ? undefined : Math.min(...said);
}
