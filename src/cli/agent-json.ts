import type { Agent } from '../core/agent.ts';
import { isUserInitiated } from '../core/user-initiated.ts';
import { statusWord } from '../render/agent-status.ts';

/** One agent in `coppice/agents/v1`. */
export function agentJson(agent: Agent): Record<string, unknown> {
  return {
    id: agent.id,
    name: agent.name,
    status: statusWord(agent),
    state: agent.state.type,
    parent_id: agent.parent_id,
    root_id: agent.root_id,
    session_key: agent.session_key,
    depth: agent.depth,
    origin: agent.origin,
    /** False for sub-agents with a task of their own (seed 3, Queries). */
    user_initiated: isUserInitiated(agent),
    label: agent.config.task?.label ?? null,
    profile: agent.config.profile ?? null,
    model: agent.config.model,
    tool_calls: agent.calls,
    tokens: {
      input: agent.usage.input,
      output: agent.usage.output,
      cached: agent.usage.cached,
      reasoning: agent.usage.reasoning,
    },
    cost_usd: agent.usage.cost_usd,
    doing: agent.doing,
    last_reply: agent.reply,
    error: errorOf(agent),
    started_at: new Date(agent.created_at).toISOString(),
    ended_at: agent.ended_at === null ? null : new Date(agent.ended_at).toISOString(),
    pending_approval: null,
  };
}

function errorOf(agent: Agent): { kind: string; message: string } | null {
  const { state } = agent;
  if (state.type === 'errored' || state.type === 'failed')
    return { kind: state.failure.kind, message: state.failure.error };
  return state.type === 'killed' ? { kind: 'killed', message: `killed by ${state.by}` } : null;
}

export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}
