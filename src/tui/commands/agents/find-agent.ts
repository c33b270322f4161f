import { type Meant, meant } from '../../../records/agent/agent.ts';
import { didYouMean } from '../../../render/nearest-name.ts';
import type { AppContext } from '../../app-context.ts';
import { agentAtSlot, numberedAgents } from '../../state/agents/slots.ts';
import type { UiState } from '../../state/ui-state.ts';

const PREFIX_MIN = 4;

/** Finds an agent by slot, name, the first four or more characters of its id, or number. Living agents take precedence over ended ones. */
export function findAgent(state: UiState, reference: string): Meant {
  const wanted = reference.trim();
  if (/^\d$/.test(wanted)) {
    const id = agentAtSlot(state, Number(wanted));
    const agent = id === null ? undefined : state.agents.get(id);
    if (agent !== undefined) return { found: 'one', agent };
  }
  const all = [...state.agents.values()];
  const named = all.filter((agent) => agent.name === wanted);
  const short = wanted.length < PREFIX_MIN;
  const by_id = short ? [] : all.filter((agent) => agent.id.startsWith(wanted.toLowerCase()));
  const which = meant(named.length > 0 ? named : by_id);
  const numbered = /^\d+$/.test(wanted) ? numberedAgents(state).get(Number(wanted)) : undefined;
  return which.found === 'none' && numbered !== undefined ? { found: 'one', agent: numbered } : which;
}

/** Resolves an agent reference; null, with a notice, if no agent matches or several do. */
export function resolveAgent(app: AppContext, text: string): string | null {
  const found = findAgent(app.state, text);
  if (found.found === 'one') return found.agent.id;
  if (found.found === 'many') {
    const list = found.candidates.map((agent) => `${agent.name} (${agent.id.slice(0, 8)})`).join(', ');
    app.say(`"${text}" may be any of ${list}: use more of the id.`, 'bad');
  } else {
    const names = [...app.state.agents.values()].map(({ name }) => name);
    const numbers = /^\d+$/.test(text)
      ? `They are numbered 0 to ${names.length - 1}; `
      : didYouMean(text, names);
    app.say(`no agent "${text}". ${numbers}/agents shows all.`, 'bad');
  }
  return null;
}

/** Resolves several references, without duplicates; null when one of them fails. */
export function resolveAgents(app: AppContext, texts: readonly string[]): readonly string[] | null {
  const ids = new Set<string>();
  for (const text of texts) {
    const id = resolveAgent(app, text);
    if (id === null) return null;
    ids.add(id);
  }
  return [...ids];
}
