import { type Agent, isUserInitiated, worktreeOf } from '../records/agent/agent.ts';
import { leftOf, ownBudget } from '../records/agent/budget.ts';
import type { Deeds } from '../records/agent/deeds.ts';
import { deedsLine, deedsOf, missingEvidence } from '../records/agent/deeds-line.ts';
import { failureOf } from '../records/agent/state.ts';
import type { Ask } from '../records/conversation/ask.ts';
import { cutShort } from '../records/conversation/child-text.ts';
import { openAsks, pauseOf } from '../records/conversation/parked.ts';
import { outcomeOf } from '../records/run/outcome.ts';
import { ledStatus } from '../render/agent-status.ts';
import { isoTime } from './iso-time.ts';
import type { AgentDocument } from './shapes/agent-parts.ts';

/** One agent in `coppice/agents/v1`. */
export function agentJson(
  agent: Agent,
  asks: readonly Pick<Ask, 'id' | 'agent_id'>[] = [],
  unled: AgentDocument['unled'] = null,
  title: string | null = null,
): AgentDocument {
  const { cost_usd, ...tokens } = agent.usage;
  return {
    id: agent.id,
    name: agent.name,
    status: ledStatus(agent, unled !== null),
    state: agent.state.type,
    parent_id: agent.parent_id,
    root_id: agent.root_id,
    session_key: agent.session_key,
    /** Title of its tree; only for a root whose title was looked up. */
    title,
    depth: agent.depth,
    origin: agent.origin,
    /** False for sub-agents with a task of their own. */
    user_initiated: isUserInitiated(agent),
    label: agent.config.task?.label ?? null,
    profile: agent.config.profile ?? null,
    /** Its own branch and folder; the folder is removed once its result reports its changes. */
    worktree: worktreeJson(agent),
    model: agent.config.model,
    thinking: agent.config.thinking,
    tool_calls: agent.calls,
    tokens,
    cost_usd,
    budget: budgetJson(agent),
    deeds: deedsJson(agent),
    doing: ledDoing(agent, unled === null),
    held: unled === null ? heldJson(agent) : null,
    paused: pausedJson(agent),
    open_approvals: openAsks(agent.state).length,
    last_reply: agent.reply,
    result: agent.state.type === 'completed' ? agent.state.result : null,
    error: failureJson(agent),
    /** The limit that ended its newest turn, or its run, although there is a reply. */
    limit: cutShort(agent.state),
    started_at: isoTime(agent.created_at),
    updated_at: isoTime(agent.updated_at),
    ended_at: isoTime(agent.ended_at),
    /** Reason why no process leads its tree although there is work left, and what would help. */
    unled,
    ...outcomeOf(agent, unled?.why),
    pending_approval: asks.find((ask) => ask.agent_id === agent.id)?.id ?? null,
  };
}

/** What it does; of an agent that nobody leads, no request waits to be sent. */
export function ledDoing(agent: Agent, is_led: boolean): string | null {
  return is_led || heldJson(agent) === null ? agent.doing : null;
}

function heldJson({ state }: Agent): AgentDocument['held'] {
  const held = state.type === 'requesting' ? (state.held ?? null) : null;
  return held && { text: held.text, until: isoTime(held.until) };
}

function deedsJson({ config, state, updated_at }: Agent): AgentDocument['deeds'] {
  const deeds: Deeds | undefined = deedsOf(state);
  if (deeds === undefined) return null;
  const { calls = {}, files = [], more_files = 0, commands = [], more_commands = 0 } = deeds;
  return {
    line: deedsLine({ config, state }, updated_at) ?? '',
    calls: Object.entries(calls).map(([tool, count]) => ({ tool, ...count })),
    ...{ files, more_files, more_commands },
    commands: commands.map(({ command, exit }) => ({ command, exit_code: exit })),
    children: deeds.children ?? 0,
    unanswered: deeds.unanswered ?? 0,
    missing_evidence: missingEvidence(config, deeds),
    denied: deeds.denied ?? [],
    tokens: deeds.tokens ?? 0,
    took_ms: deeds.took_ms ?? null,
  };
}

function worktreeJson(agent: Agent): { branch: string; path: string } | null {
  const worktree = worktreeOf(agent.config);
  return worktree === null ? null : { branch: worktree.branch, path: worktree.path };
}

function budgetJson({ id, config, budget }: Agent): AgentDocument['budget'] {
  if (budget === undefined) return null;
  const { limit, spent } = budget;
  const left = { tokens: leftOf(budget, 'tokens'), usd: leftOf(budget, 'usd') };
  return { limit, spent, left, until: isoTime(ownBudget(id, config)?.until ?? null) };
}

function pausedJson({ state }: Agent): AgentDocument['paused'] {
  const pause = pauseOf(state);
  if (pause === null) return null;
  const { text, spent, failure, tries, opens_at } = pause;
  return { waits_for: text, spent, error: failure.error, until: isoTime(opens_at), tries };
}

/** Reason why the agent's newest turn failed, or who killed it; null if neither. */
export function failureJson({ state }: Pick<Agent, 'state'>): AgentDocument['error'] {
  const failure = failureOf(state);
  return failure && { kind: failure.kind, message: failure.error, retryable: failure.retryable };
}
