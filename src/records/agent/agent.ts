import type { ProjectServer } from '../server-tools.ts';
import type { WorkflowTerms } from '../workflow/workflow-terms.ts';
import { storedName } from './agent-name.ts';
import { type AgentBudget, type PathBudget, rootBudget, type TreeSums, timeBudgetEnd } from './budget.ts';
import type { Limits } from './limits.ts';
import { type Skill, skillsOf, skillText } from './skill.ts';
import { type AgentState, isTerminal, isWorking } from './state.ts';
import type { TaskTerms, Worktree } from './task-terms.ts';
import type { Usage } from './usage.ts';

export interface PermissionRules {
  readonly allow: readonly string[];
  readonly ask: readonly string[];
  readonly deny: readonly string[];
}

/**
 * How much a tree may do without asking the person (src/permissions/mode.ts). `ask`: only what the rules allow. `accept`: file edits too. `plan`: no changes
 * at all.
 */
export type PermissionMode = 'ask' | 'accept' | 'plan';

/** How much a model thinks before it answers, from least to most. */
export const THINKING = ['off', 'low', 'medium', 'high'] as const;
export type Thinking = (typeof THINKING)[number];

/** Configuration of an agent, set when it is created. Fixed for its lifetime, except for its model, the mode, and the toolset `workflow`. */
export interface AgentConfig {
  /** `provider/model`; a person may choose another one. */
  readonly model: string;
  /** Models that answer, in this order, while the provider of `model` takes no requests; absent: none. */
  readonly fallback?: readonly string[];
  readonly thinking: Thinking;
  readonly system: string;
  /** Text of the instruction files of the project and of the user (docs/instructions.md); follows `system`. */
  readonly instructions?: string;
  /** Skills that its prompt lists; absent: none. */
  readonly skills?: readonly Skill[];
  /** Names of the toolsets and tools that its model sees. For tools of MCP servers also patterns (src/records/server-tools.ts). */
  readonly toolsets: readonly string[];
  readonly tools: readonly string[];
  /** Tools of MCP servers, or patterns of them, that it does not have although entries of `tools` match them. */
  readonly without_tools?: readonly string[];
  /** MCP servers that the project defines and the user trusted; servers of the configuration are not listed here. */
  readonly mcp_servers?: readonly ProjectServer[];
  /** Absolute path of its folder. */
  readonly cwd: string;
  /** Permission rules as text (`bash:git *`). Rules of the command line take precedence over the configuration (docs/permissions.md). */
  readonly permissions: {
    readonly cli: PermissionRules;
    readonly config: PermissionRules;
    /** Allow rules of the root's own profile; they apply where neither `cli` nor `config` has a matching rule. */
    readonly granted?: readonly string[];
    /** Rules of the profiles on the path from the root to this agent. They only restrict and never allow more. */
    readonly narrowed?: readonly PermissionRules[];
    /** Only the root's mode counts, for its whole tree; default `ask`. */
    readonly mode?: PermissionMode;
  };
  /** The profile that it was created from, if one was named. */
  readonly profile?: string;
  /** Maximum model requests of one turn, if lower than the tree's limit. */
  readonly turns?: number;
  /** Maximum wall time of one turn in milliseconds, if lower than the tree's limit. */
  readonly run_ms?: number;
  /** Budgets on the path to the root, nearest first: the agent's own, if it has one, comes first. */
  readonly budgets?: readonly PathBudget[];
  /** Evidence that its work must provide, as written in its profile (docs/profiles.md). */
  readonly require?: readonly string[];
  /** Absent in conversations that a person started, and in their forks. */
  readonly task?: TaskTerms;
  /** Git worktree of a fork, inherited by its own forks; the worktree of an agent with a task is in `task`. */
  readonly worktree?: Worktree;
  /**
   * The chat in which a person talks to the tree, as an outbox target (`telegram:42`). Approvals are requested there, and the root's replies are
   * delivered there.
   */
  readonly channel?: string;
  /** Further targets of the replies of a root. */
  readonly replies_to?: readonly string[];
  /** Outbox targets of a root's results: of each answer after which nothing is at work or on its way, and of the end of a workflow. */
  readonly deliver?: readonly string[];
  /** Name of the outside program that acts as this agent, over MCP (docs/mcp-server.md). Children inherit the configuration without this field. */
  readonly client?: string;
  /** Set if a script decides what the agent does. Children inherit the configuration without this field. */
  readonly workflow?: WorkflowTerms;
  /** The form of the result that a program wants of one agent, which submits it. Agents that inherit the configuration owe none. */
  readonly output?: { readonly agent_id: string; readonly schema: Readonly<Record<string, unknown>> };
  /** Set if nobody watches the tree: calls that need an approval are denied unless there is a chat to ask in. */
  readonly unattended?: boolean;
}

/**
 * How an agent was created. Decides what its history begins with and how its outcome is delivered. `cron`: the root of a tree that a timer
 * started.
 */
export type Origin = 'root' | 'fork' | 'spawn' | 'session' | 'delegate' | 'cron';

/** What decisions of the ledger read of an agent, too. */
export interface AgentColumns {
  readonly id: string;
  readonly root_id: string;
  readonly parent_id: string | null;
  readonly name: string;
  /** `agent:main:main`, `agent:main:subagent:<uuid>`, `cron:<jobId>`. Unique only among the living agents of a tree. */
  readonly session_key: string;
  readonly origin: Origin;
  /** 0 for a root. */
  readonly depth: number;
  /** Seq of its newest message; for a new fork, its fork point. */
  readonly last_seq: number;
  /** Count of all mail ever addressed to the agent; equals the number of the newest mail. */
  readonly mail_count: number;
  /** Number of the newest mail that the agent was notified of; 0 if none (docs/vocabularies.md). */
  readonly noticed: number;
  readonly worker: string | null;
  readonly epoch: number;
  /** Number of processes that have died while running a call of this agent since it last rested. */
  readonly deaths: number;
  readonly calls: number;
}

/** One agent as the ledger stores it. */
export interface Agent extends AgentColumns {
  readonly config: AgentConfig;
  readonly state: AgentState;
  /** History up to and including this message belongs to the ancestor. */
  readonly forked_from: { readonly agent_id: string; readonly seq: number } | null;
  readonly usage: Usage;
  /** Sums of the agent's own budget at the time of the read; absent: it has no budget of its own. */
  readonly budget?: AgentBudget;
  /** Current activity, one line for people. */
  readonly doing: string | null;
  /** Text of its last completed turn. */
  readonly reply: string | null;
  /**
   * Set if, at the time of the read, the agent rests with waking mail that it has not been notified of, so it is about to work. Can be stale for an agent
   * that a process leads; that process has the current value.
   */
  readonly unread?: true;
  /** Whether it has sent mail to its parent since its last turn began. */
  readonly sent_this_turn: boolean;
  /** Milliseconds since the epoch. */
  readonly created_at: number;
  readonly updated_at: number;
  readonly ended_at: number | null;
  /** When a person hid the agent from the lists; it stays in the ledger. */
  readonly reaped_at: number | null;
  /** Ids that it had in the trees that its tree was cut from, nearest first: texts of its conversation use them. Absent in other trees. */
  readonly was?: readonly string[];
}

/** Where a tree was cut from another one (docs/time-machine.md). */
export interface CutPlace {
  /** Root of the other tree. */
  readonly of: string;
  /** What came later is not in this tree; milliseconds since the epoch. */
  readonly at: number;
  /** Set if one message was named: the last one of this agent of the other tree that is in this one. */
  readonly agent_id?: string;
  readonly seq?: number;
}

/** Counters and limits of one tree (law 7). */
export interface Tree extends TreeSums {
  readonly root_id: string;
  /** Agents that are not terminal, the root included. */
  readonly live: number;
  /** Agents ever created, the root included. */
  readonly total: number;
  /** Absent: it was not cut from another tree. */
  readonly cut?: CutPlace;
}

/** Returns the system text of a configuration. For an agent program only `system`, since it reads the instruction files itself. */
export function systemText(config: AgentConfig): string {
  const { system, instructions = '', model } = config;
  const texts = isAgentProgram(model) ? [system] : [system, instructions, skillText(skillsOf(config))];
  return texts.filter((text) => text !== '').join('\n\n');
}

/** Whether the agent works or is about to read mail. An agent that does neither rests: every wait for rest, and the check for work left in a tree, goes by this. */
export function isActive({
  state,
  unread,
}: Pick<Agent, 'state'> & { readonly unread?: boolean | undefined }): boolean {
  return isWorking(state.type) || (unread === true && !isTerminal(state.type));
}

/** The git worktree that the agent works in; null if none. */
export function worktreeOf({ task, worktree }: Pick<AgentConfig, 'task' | 'worktree'>): Worktree | null {
  return worktree ?? task?.worktree ?? null;
}

/** Model and thinking effort of an agent where they differ from those of its root, for people. */
export function differencesFromRoot(
  { model, thinking }: Pick<AgentConfig, 'model' | 'thinking'>,
  root: Pick<AgentConfig, 'model' | 'thinking'> | undefined,
): readonly string[] {
  if (root === undefined) return [];
  const effort = thinking === root.thinking ? [] : [`thinking ${thinking}`];
  return model === root.model ? effort : [model, ...effort];
}

/** Whether the model is an external agent program reached over ACP (`acp:NAME`), which calls its own tools, never ours. */
export function isAgentProgram(model: string): boolean {
  return model.startsWith('acp:');
}

/** The model of an agent whose answer is how another tree went on (docs/time-machine.md#what-if). */
export const WHAT_IF = 'coppice/what-if';

/** Whether the agent must end with `submit_result` or `submit_error`. The result of an agent program is its last text. */
export function mustSubmit({ id, config, origin }: Pick<Agent, 'id' | 'config' | 'origin'>): boolean {
  const { task, output } = config;
  if (isAgentProgram(config.model)) return false;
  if (output?.agent_id === id) return true;
  return task !== undefined && origin === task.kind && (task.kind === 'spawn' || task.output_schema !== null);
}

/** The schema of its result; null: none. Such a result counts only if submitted, because submission is where it is validated. */
export function resultSchema({ task, output }: AgentConfig) {
  return output?.schema ?? task?.output_schema ?? null;
}

/**
 * Whether the agent has a single task from an agent of the same tree; it then creates others only by delegation (docs/vocabularies.md). A scheduled run
 * is the root of its tree and may split its work like any other root.
 */
export function isSubAgent({ task }: Pick<AgentConfig, 'task'>): boolean {
  return task !== undefined && task.kind !== 'cron';
}

/** Whether a script of a workflow has created the agent. It counts towards the calls of that run, not towards the limits on agents of the tree (law 7). */
export function isScripted({ task }: Pick<AgentConfig, 'task'>): boolean {
  return task?.workflow !== undefined;
}

/** Whether the agent has a task of its own; only such agents can have a row in the run history, and rest before they begin. */
export function isTask(origin: Origin): boolean {
  return origin === 'session' || origin === 'delegate' || origin === 'cron';
}

/** Whether the agent is a background run that is queued: it begins when others of its tree end, so it does not count as busy (law 7). */
export function isQueuedRun({ origin, status }: { origin: Origin; status: AgentState['type'] }): boolean {
  return origin === 'session' && status === 'idle';
}

/** Whether the agent is a conversation that a person started, or a fork of one; not a sub-agent with a task of its own. */
export function isUserInitiated(agent: Pick<Agent, 'origin'>): boolean {
  return agent.origin === 'root' || agent.origin === 'fork';
}

/** Maximum wall time of a turn of the agent that began at `started_at`, milliseconds. */
export function runTime(config: AgentConfig, limits: Limits, started_at: number): number {
  const left = Math.max(0, timeBudgetEnd(config) - started_at);
  // A workflow may wait for days.
  const usual = config.workflow === undefined ? limits.run_ms : Number.POSITIVE_INFINITY;
  return Math.min(usual, config.run_ms ?? usual, left);
}

/** Ids from an agent up to the root of its tree, as far as the agents are known. */
export function pathUp(
  agent_id: string,
  agentOf: (id: string) => Pick<Agent, 'parent_id'> | undefined,
): string[] {
  const path: string[] = [];
  for (let id: string | null = agent_id; id !== null; id = agentOf(id)?.parent_id ?? null) path.push(id);
  return path;
}

/** The descendants of an agent, at any depth, oldest first. `all`: the agents of its tree. */
export function descendantsOf(agent_id: string, all: Iterable<Agent>): Agent[] {
  const below = new Set([agent_id]);
  // An agent is created before its children.
  const oldest_first = [...all].sort((a, b) => a.created_at - b.created_at || a.depth - b.depth);
  for (const { id, parent_id } of oldest_first) if (parent_id !== null && below.has(parent_id)) below.add(id);
  return oldest_first.filter(({ id }) => id !== agent_id && below.has(id));
}

/** Which agent a text means. */
export type Meant<Found = Agent> =
  | { readonly found: 'one'; readonly agent: Found }
  | { readonly found: 'many'; readonly candidates: readonly Found[] }
  | { readonly found: 'none' };

/** Of the agents whose id or name fits a text, the only one is meant, or the only living one. */
export function meant<Found = Agent>(
  all: readonly Found[],
  hasEnded: (one: Found) => boolean = (one) => isTerminal((one as Agent).state.type),
): Meant<Found> {
  const living = all.filter((one) => !hasEnded(one));
  const candidates = living.length > 0 ? living : all;
  const [agent] = candidates;
  if (agent === undefined) return { found: 'none' };
  return candidates.length === 1 ? { found: 'one', agent } : { found: 'many', candidates };
}

/** A new root that is idle until it gets mail, and that nobody leads. */
export function idleRoot({
  id,
  name,
  config,
  created_at,
  ...more
}: Pick<Agent, 'id' | 'name' | 'config' | 'created_at' | 'session_key'> &
  Partial<Pick<Agent, 'origin' | 'worker'>>) {
  const place = { id, root_id: id, parent_id: null, depth: 0, forked_from: null, created_at };
  const rest = { origin: 'root', state: { type: 'idle' }, worker: null } as const;
  const budgeted = rootBudget(config, id, created_at);
  return { ...place, ...rest, name: storedName(name), config: budgeted, ...more };
}
