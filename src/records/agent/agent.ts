import type { BroughtServer } from '../server-tools.ts';
import { type AgentBudget, type Amounts, type PathBudget, timeBudgetEnd } from './budget.ts';
import type { Limits, TreeLimits } from './limits.ts';
import { type Skill, skillsOf, skillText } from './skill.ts';
import { type AgentState, isWorking } from './state.ts';
import type { TaskTerms, Worktree } from './task-terms.ts';
import type { Usage } from './usage.ts';

export interface PermissionRules {
  readonly allow: readonly string[];
  readonly ask: readonly string[];
  readonly deny: readonly string[];
}

/** What happens in a tree without asking the person (src/permissions/mode.ts): nothing beyond the rules; edits of files; nothing that changes anything. */
export type PermissionMode = 'ask' | 'accept' | 'plan';

/** What an agent was created with. Fixed for its lifetime, except for its model, and the mode. */
export interface AgentConfig {
  /** `provider/model`; a person may choose another one. */
  readonly model: string;
  readonly thinking: 'off' | 'low' | 'medium' | 'high';
  readonly system: string;
  /** What the files of the project and the user's own say to every agent (docs/instructions.md); follows `system`. */
  readonly instructions?: string;
  /** Of these its prompt says what they are for; absent: none. */
  readonly skills?: readonly Skill[];
  /** Names of the toolsets and tools its model sees. Of MCP servers also patterns (src/records/server-tools.ts). */
  readonly toolsets: readonly string[];
  readonly tools: readonly string[];
  /** Tools of MCP servers that it lacks although `tools` means them. */
  readonly without_tools?: readonly string[];
  /** MCP servers that the project brought and the user trusted; those of the configuration are not kept here. */
  readonly mcp_servers?: readonly BroughtServer[];
  /** Absolute path of its folder. */
  readonly cwd: string;
  /** Permission rules as text (`bash:git *`). Rules of the command line take precedence over the configuration (docs/permissions.md). */
  readonly permissions: {
    readonly cli: PermissionRules;
    readonly config: PermissionRules;
    /** What the root's own profile allows where neither of the two has a rule. */
    readonly granted?: readonly string[];
    /** Rules of the profiles on the path from the root: they restrict, and never allow more. */
    readonly narrowed?: readonly PermissionRules[];
    /** Only that of the root counts, for its whole tree; default `ask`. */
    readonly mode?: PermissionMode;
  };
  /** The profile that it was created from, if one was named. */
  readonly profile?: string;
  /** Maximum model requests of one turn, if lower than the tree's limit. */
  readonly turns?: number;
  /** Maximum wall time of one turn in milliseconds, if lower than the tree's limit. */
  readonly run_ms?: number;
  /** Budgets on the path to the root, nearest first; its own, if it has one, comes first. */
  readonly budgets?: readonly PathBudget[];
  /** Evidence that its work must bring, as its profile writes it (docs/profiles.md). */
  readonly require?: readonly string[];
  /** Absent in conversations that a person started, and in their forks. */
  readonly task?: TaskTerms;
  /** Of a fork in a git worktree, and of its own forks in the same one; that of an agent with a task is in its terms. */
  readonly worktree?: Worktree;
  /**
   * The chat in which a person talks to the tree, as an outbox target (`telegram:42`). Approvals are requested there, and the root's replies are
   * delivered there.
   */
  readonly channel?: string;
  /** A program outside decides for this agent, over MCP (docs/mcp-server.md): its name. Its children get the rest of this configuration. */
  readonly client?: string;
  /** Nobody watches the tree: calls that need an approval are denied unless there is a chat to ask in. */
  readonly unattended?: boolean;
}

/**
 * How an agent was created. Decides what its history begins with and how its outcome is delivered. `cron`: the root of a tree that a timer
 * started.
 */
export type Origin = 'root' | 'fork' | 'spawn' | 'session' | 'delegate' | 'cron';

/** One agent as the ledger stores it. */
export interface Agent {
  readonly id: string;
  readonly root_id: string;
  readonly parent_id: string | null;
  readonly name: string;
  /** `agent:main:main`, `agent:main:subagent:<uuid>`, `cron:<jobId>`. Unique among living agents of a tree only. */
  readonly session_key: string;
  readonly origin: Origin;
  /** 0 for a root. */
  readonly depth: number;
  readonly config: AgentConfig;
  readonly state: AgentState;
  /** Seq of its newest message; that of a new fork is its fork point. */
  readonly last_seq: number;
  /** History up to and including this message belongs to the ancestor. */
  readonly forked_from: { readonly agent_id: string; readonly seq: number } | null;
  /** Mail ever addressed to it, which is also the number of the newest one. */
  readonly mail_count: number;
  readonly worker: string | null;
  readonly epoch: number;
  /** How many processes have died while running a call of this agent since it last rested. */
  readonly deaths: number;
  readonly calls: number;
  readonly usage: Usage;
  /** Sums of its own budget, as of the read; absent: it has none. */
  readonly budget?: AgentBudget;
  /** One line for people: what it is doing now. */
  readonly doing: string | null;
  /** Text of its last completed turn. */
  readonly reply: string | null;
  /** Number of the newest mail that it was notified of; 0 if none (docs/vocabularies.md). */
  readonly noticed: number;
  /**
   * As of the read, the agent rests with waking mail that it has not been notified of: it is about to work. For an agent led by a process, that process
   * knows better.
   */
  readonly unread?: true;
  /** It has sent mail to its parent since its last turn began. */
  readonly sent_this_turn: boolean;
  /** Milliseconds since the epoch. */
  readonly created_at: number;
  readonly updated_at: number;
  readonly ended_at: number | null;
  /** When a person hid it from the lists; it stays in the ledger. */
  readonly reaped_at: number | null;
}

/** The counters of one tree, and its limits (law 7). */
export interface Tree {
  readonly root_id: string;
  readonly limits: TreeLimits;
  /** Agents that are not terminal, the root included. */
  readonly live: number;
  /** Agents ever created, the root included. */
  readonly total: number;
  readonly tokens: number;
  readonly cost_usd: number;
  /** Tokens among these that were read from a cache, which no limit counts; absent: none. */
  readonly cached?: number;
  /** What is left of the budgets that agents were given; absent: nothing. */
  readonly reserved?: Amounts;
}

/** The system text of its configuration. An agent program reads the files of the project itself. */
export function systemText(config: AgentConfig): string {
  const { system, instructions = '', model } = config;
  const texts = isAgentProgram(model) ? [system] : [system, instructions, skillText(skillsOf(config))];
  return texts.filter((text) => text !== '').join('\n\n');
}

/** It works, or is about to read mail; `wait` and the work that a tree has left count both. */
export function isActive({ state, unread }: Agent): boolean {
  return isWorking(state.type) || unread === true;
}

/** The git worktree that the agent works in; null: none of its own. */
export function worktreeOf({ task, worktree }: Pick<AgentConfig, 'task' | 'worktree'>): Worktree | null {
  return worktree ?? task?.worktree ?? null;
}

/** Model and effort of an agent where they differ from those of its root, for people. */
export function unlikeRoot(
  { model, thinking }: Pick<AgentConfig, 'model' | 'thinking'>,
  root: Pick<AgentConfig, 'model' | 'thinking'> | undefined,
): readonly string[] {
  if (root === undefined) return [];
  const effort = thinking === root.thinking ? [] : [`thinking ${thinking}`];
  return model === root.model ? effort : [model, ...effort];
}

/** The model is an external agent program reached over ACP (`acp:NAME`), which calls its own tools, never ours. */
export function isAgentProgram(model: string): boolean {
  return model.startsWith('acp:');
}

/** Whether the agent must end with `submit_result` or `submit_error`. The result of an agent program is its last text. */
export function mustSubmit(config: AgentConfig, origin: Origin): boolean {
  if (config.task === undefined || origin !== config.task.kind || isAgentProgram(config.model)) return false;
  return config.task.kind === 'spawn' || hasSchema(config);
}

/** Its result counts only if submitted, because that is when it is validated. */
export function hasSchema({ task }: AgentConfig): boolean {
  return task !== undefined && task.output_schema !== null;
}

/**
 * Whether an agent of the same tree gave it its one task: such an agent creates others only by delegation (docs/vocabularies.md). A scheduled run is
 * the root of its tree and may split its work like any other root.
 */
export function isSubAgent({ task }: Pick<AgentConfig, 'task'>): boolean {
  return task !== undefined && task.kind !== 'cron';
}

/** A conversation that a person started, or a fork of one; not a sub-agent with a task of its own. */
export function isUserInitiated(agent: Pick<Agent, 'origin'>): boolean {
  return agent.origin === 'root' || agent.origin === 'fork';
}

/** Maximum wall time of a turn of the agent that began at `started_at`, milliseconds. */
export function runTime(config: AgentConfig, limits: Limits, started_at: number): number {
  const left = Math.max(0, timeBudgetEnd(config) - started_at);
  return Math.min(limits.run_ms, config.run_ms ?? limits.run_ms, left);
}
