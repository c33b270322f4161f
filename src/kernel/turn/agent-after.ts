import type { Agent } from '../../records/agent/agent.ts';
import { isWorking, killedState } from '../../records/agent/state.ts';
import { addUsage, NO_USAGE } from '../../records/agent/usage.ts';
import type { Message, PlacedMessage } from '../../records/conversation/message.ts';
import type { NewAgent } from '../../records/run/new-agent.ts';
import type { Step } from '../step.ts';
import { doing } from './doing.ts';
import type { Arguments } from './view.ts';

const NO_CALLS = (): Arguments => ({ ok: true, input: {} });

/** The agent as in the ledger right after its creation. */
export function createdAgent({ agent, messages }: NewAgent): Agent {
  return {
    ...agent,
    last_seq: (agent.forked_from?.seq ?? 0) + messages.length,
    mail_count: 0,
    epoch: 1,
    deaths: 0,
    calls: 0,
    usage: NO_USAGE,
    doing: doing(agent.state, NO_CALLS),
    reply: null,
    noticed: 0,
    sent_this_turn: false,
    updated_at: agent.created_at,
    ended_at: null,
    reaped_at: null,
  };
}

/** The agent as in the ledger right after one of its steps. */
export function agentAfter({ unread: _, ...before }: Agent, step: Step): Agent {
  const usage = step.requests.reduce((sum, request) => addUsage(sum, request.usage), before.usage);
  const { type } = step.state;
  return {
    ...before,
    state: step.state,
    config: step.config ?? before.config,
    last_seq: step.base_seq + step.messages.length,
    usage,
    calls: before.calls + step.calls,
    doing: step.doing,
    reply: step.reply,
    sent_this_turn: step.sent_this_turn,
    noticed: step.noticed,
    updated_at: step.at,
    deaths: isWorking(type) ? before.deaths : 0,
    ended_at: type === 'completed' || type === 'failed' ? step.at : before.ended_at,
  };
}

/** The agent as in the ledger right after a kill. */
export function killedAgent(agent: Agent, by: string, at: number): Agent {
  return {
    ...agent,
    state: killedState(agent.state, by, at),
    worker: null,
    epoch: agent.epoch + 1,
    last_seq: agent.last_seq + 1,
    doing: null,
    updated_at: at,
    ended_at: at,
  };
}

/** Messages of a step with their places in the conversation. */
export function placed(
  agent_id: string,
  messages: readonly Message[],
  base_seq: number,
  at: number,
): PlacedMessage[] {
  return messages.map((message, index) => ({ ...message, agent_id, seq: base_seq + 1 + index, at }));
}
