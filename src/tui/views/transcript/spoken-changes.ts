import type { Agent } from '../../../records/agent/agent.ts';
import { nameOf, outcomeOf, shownWord } from '../../../records/run/outcome.ts';
import { statusWord } from '../../../render/agent-status.ts';
import { clean } from '../../../render/clean.ts';
import { spellHiddenLine } from '../../../render/hidden-characters.ts';
import type { UiStyle } from '../../../render/style.ts';
import { FORKS_MIN } from '../../state/transcript.ts';
import { paneOf, type UiState } from '../../state/ui-state.ts';
import { line } from '../../text/line.ts';

/**
 * The changes between two states, a line each, for screen readers: new agents, changed states, new approvals. Clocks and counts of
 * tokens are left out.
 */
export function spokenChanges(before: UiState, now: UiState, width: number, style: UiStyle): string[] {
  const said: string[] = [];
  if (now.trouble !== before.trouble)
    said.push(now.trouble === null ? 'ledger: reachable again' : `ledger: ${clean(now.trouble)}`);
  if (now.agents !== before.agents) {
    const many = manyChildren(before, now);
    for (const [parent_id, count] of many)
      said.push(`${clean(now.agents.get(parent_id)?.name ?? '')}: ${count} new children`);
    for (const agent of now.agents.values()) {
      if (!before.agents.has(agent.id) && many.has(agent.parent_id ?? '')) continue;
      const text = agentChange(before.agents.get(agent.id), agent, now);
      if (text !== null) said.push(text);
    }
  }
  const asked = new Set(before.asks.map((ask) => ask.id));
  for (const ask of now.asks)
    if (!asked.has(ask.id))
      said.push(`${clean(ask.agent_name)} asks: ${clean(ask.tool)} ${spellHiddenLine(ask.subject, width)}`);
  if (now.view !== before.view && now.view !== null) said.push(viewChange(now, now.view));
  return said.map((text) => line(style, width, [text]));
}

/** Parents with so many new children that only their number is announced. */
function manyChildren(before: UiState, { agents }: UiState): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { id, parent_id } of agents.values())
    if (parent_id !== null && !before.agents.has(id)) counts.set(parent_id, (counts.get(parent_id) ?? 0) + 1);
  return new Map([...counts].filter(([, count]) => count >= FORKS_MIN));
}

function agentChange(before: Agent | undefined, agent: Agent, state: UiState): string | null {
  if (before === agent) return null;
  const name = clean(agent.name);
  const word = spokenWord(agent);
  if (before === undefined) {
    const parent = agent.parent_id === null ? undefined : state.agents.get(agent.parent_id);
    return `${name}: ${word}${parent === undefined ? '' : `, child of ${clean(parent.name)}`}`;
  }
  if (spokenWord(before) === word) return null;
  if (agent.state.type === 'killed') return `${name}: dead, killed by ${clean(agent.state.by)}`;
  return `${name}: ${word}`;
}

function spokenWord(agent: Agent): string {
  return nameOf(shownWord(statusWord(agent), outcomeOf(agent).outcome));
}

function viewChange(state: UiState, agent_id: string): string {
  const { unseen } = paneOf(state, agent_id);
  const name = clean(state.agents.get(agent_id)?.name ?? '');
  return `in view: ${name}${unseen > 0 ? `, ${unseen} new` : ''}`;
}
