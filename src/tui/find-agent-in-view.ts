import type { Agent } from '../core/agent.ts';
import { isTerminal } from '../core/state.ts';

export type FoundAgent =
  | { readonly ok: true; readonly agent: Agent }
  | { readonly ok: false; readonly error: string };

/** Who a person means: a slot (0 is the root), a name, or at least four characters of a uuid. Of several, the only living one. */
export function findAgentInView(
  text: string,
  agents: Iterable<Agent>,
  slots: ReadonlyMap<string, number>,
): FoundAgent {
  const all = [...agents];
  if (/^\d$/.test(text)) {
    const slot = Number(text);
    const found = all.find((agent) => (slot === 0 ? agent.parent_id === null : slots.get(agent.id) === slot));
    if (found !== undefined) return { ok: true, agent: found };
  }
  const matching = all.filter(
    (agent) => agent.name === text || (text.length >= 4 && agent.id.startsWith(text.toLowerCase())),
  );
  const living = matching.filter((agent) => !isTerminal(agent.state.type));
  const [only] = living.length === 1 ? living : matching;
  if (only === undefined) return { ok: false, error: `no agent "${text}". /agents shows all.` };
  if (living.length === 1 || matching.length === 1) return { ok: true, agent: only };
  const list = matching.map((agent) => `${agent.name} (${agent.id.slice(0, 8)})`).join(', ');
  return { ok: false, error: `"${text}" may be any of ${list}: use more of the id.` };
}
