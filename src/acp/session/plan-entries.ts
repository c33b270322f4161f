import type { PlanEntry } from '@agentclientprotocol/sdk';
import type { Agent } from '../../records/agent/agent.ts';
import { outcomeOf } from '../../records/run/outcome.ts';
import { cutText } from '../../records/text/cut-text.ts';
import { statusWord } from '../../render/agent-status.ts';
import { clean } from '../../render/clean.ts';

/** Maximum agents that a plan names; the others are only counted. */
const NAMED_MAX = 60;
const TEXT_MAX = 160;

/** The agents below one, in order of creation, as entries of its plan: what each is doing, or its outcome. */
export function planEntries(below: readonly Agent[]): PlanEntry[] {
  const named = below.slice(0, NAMED_MAX).map(entryOf);
  const more = below.slice(NAMED_MAX);
  if (more.length === 0) return named;
  const status = more.every((agent) => statusOf(agent) === 'completed') ? 'completed' : 'in_progress';
  return [...named, { content: `and ${more.length} more agents`, priority: 'medium', status }];
}

function entryOf(agent: Agent): PlanEntry {
  const about = aboutOf(agent);
  const content = about === '' ? clean(agent.name) : `${clean(agent.name)}: ${about}`;
  return { content, priority: 'medium', status: statusOf(agent) };
}

function statusOf(agent: Agent): PlanEntry['status'] {
  const word = statusWord(agent);
  if (word === 'queued' || (word === 'idle' && agent.unread === true)) return 'pending';
  return word === 'running' || word === 'waiting' ? 'in_progress' : 'completed';
}

function aboutOf(agent: Agent): string {
  const { outcome, outcome_text } = outcomeOf(agent);
  const done = agent.state.type === 'completed' ? agent.state.result : (agent.reply ?? '');
  const label = agent.config.task?.label ?? '';
  const text =
    statusOf(agent) !== 'completed' ? (agent.doing ?? label) : outcome === 'done' ? done : outcome_text;
  const line = clean(text.trim().split('\n', 1)[0] ?? '');
  return cutText(line, TEXT_MAX, ' …');
}
