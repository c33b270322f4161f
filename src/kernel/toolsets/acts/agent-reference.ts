import * as z from 'zod';
import type { Agent } from '../../../records/agent/agent.ts';
import { keptName, nameFault } from '../../../records/agent/agent-name.ts';
import type { Decision, RefusalCode, ToolsetView } from '../toolset.ts';

type Refused = Extract<Decision, { type: 'refuse' }>;
type Found = { readonly ok: true; readonly agent: Agent } | { readonly ok: false; readonly refused: Refused };

export function refuse(code: RefusalCode, message: string): Refused {
  return { type: 'refuse', code, message };
}

/** An agent as messages name it. */
export function describe(agent: Agent): string {
  return `${agent.name} (${agent.id}, ${agent.state.type})`;
}

/** The agent that a field names, or the refusal that says why there is none. */
export function find(text: string, field: string, view: ToolsetView): Found {
  const resolved = view.resolve(text);
  if (resolved.found === 'one') return { ok: true, agent: resolved.agent };
  if (resolved.found === 'many') {
    const candidates = resolved.candidates.map(describe).join(', ');
    return {
      ok: false,
      refused: refuse(
        'AGENT_AMBIGUOUS',
        `field "${field}": "${text}" matches several agents: ${candidates}. Use a whole id.`,
      ),
    };
  }
  return {
    ok: false,
    refused: refuse(
      'AGENT_NOT_FOUND',
      `field "${field}": no agent "${text}" in this tree. Use an agent_id that fork returned.`,
    ),
  };
}

/** A text of a tool's input that must say something. */
export const text = (what: string) =>
  z.string().refine((value) => value.trim() !== '', `${what} must not be empty`);

/** What a model calls an agent or a run by; where it may be left out, an empty one is. */
export const name = (how: 'required' | 'optional') =>
  z
    .string()
    .superRefine((value, context) => {
      const message = how === 'optional' && value.trim() === '' ? null : nameFault(value);
      if (message !== null) context.addIssue({ code: 'custom', message });
    })
    .transform(keptName);

/** The texts of one field, whatever the model wrote there. */
export function strings(input: unknown, field: string): readonly string[] {
  const value =
    typeof input === 'object' && input !== null ? (input as Record<string, unknown>)[field] : undefined;
  return (Array.isArray(value) ? value : [value]).filter((one) => typeof one === 'string');
}
