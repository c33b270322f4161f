import * as z from 'zod';
import type { Agent } from '../../../records/agent/agent.ts';
import { nameFault, storedName } from '../../../records/agent/agent-name.ts';
import { fieldsOf } from '../../../records/text/json-fields.ts';
import { parseJson } from '../../../records/text/json-text.ts';
import type { Consequence } from '../../transition/event.ts';
import type { Decision, RefusalCode, ToolsetView } from '../toolset.ts';

export type Refused = Extract<Decision, { type: 'refuse' }>;
type Settled = Extract<Decision, { type: 'settle' }>;
type Found = { readonly ok: true; readonly agent: Agent } | { readonly ok: false; readonly refused: Refused };

export function refuse(code: RefusalCode, message: string): Refused {
  return { type: 'refuse', code, message };
}

export function settle(output: string, ...consequences: readonly Consequence[]): Settled {
  return { type: 'settle', output, consequences };
}

export function agentInMessage(agent: Agent): string {
  return `${agent.name} (${agent.id}, ${agent.state.type})`;
}

/** Maximum agents that an error names. */
const SHOWN_MAX = 8;

/** Resolves the agent named by a field, or refuses the call. */
export function find(text: string, field: string, view: ToolsetView): Found {
  const not = (code: RefusalCode, why: string): Found => ({
    ok: false,
    refused: refuse(code, `field "${field}": ${why}`),
  });
  const resolved = view.resolve(text);
  if (resolved.found === 'one') return { ok: true, agent: resolved.agent };
  if (resolved.found === 'many') {
    const candidates = resolved.candidates.map(agentInMessage).join(', ');
    return not('AGENT_AMBIGUOUS', `"${text}" matches several agents: ${candidates}. Use a whole id.`);
  }
  const [, ...above] = view.lineage(view.self);
  const named = text
    .trim()
    .toLowerCase()
    .replace(/^<(.*)>$/, '$1');
  const [parent] = above;
  if (named === 'parent' && parent !== undefined) return { ok: true, agent: parent };
  if (/^(user|human|person)$/.test(named))
    return not(
      'AGENT_NOT_FOUND',
      view.self.parent_id === null
        ? `the ${named} is no agent: what you answer at the end of your turn is read by the person. Write it there.`
        : `the ${named} is no agent. Your parent reads what you report at the end of your turn; before that, send to "parent".`,
    );
  const others = [...above, ...view.subtree(view.self).slice(1)].slice(0, SHOWN_MAX);
  const known = others.map(({ name, id }) => `${name} (${id})`).join(', ');
  return not(
    'AGENT_NOT_FOUND',
    `no agent "${text}" in this tree. ${known === '' ? 'You have created none' : `There are: ${known}`}.`,
  );
}

/** Schema of a text that must not be blank. */
export const text = (what: string) =>
  z.string().refine((value) => value.trim() !== '', `${what} must not be empty`);

/** Schema of a name that a model gives to an agent or run; where optional, empty counts as absent. */
export const name = (how: 'required' | 'optional') =>
  z
    .string()
    .superRefine((value, context) => {
      const message = how === 'optional' && value.trim() === '' ? null : nameFault(value);
      if (message !== null) context.addIssue({ code: 'custom', message });
    })
    .transform(storedName);

/** The texts of a parameter: one, a list, or a list that stands in a text. */
export function strings(input: unknown, field: string): readonly string[] {
  const value = fieldsOf(input)[field];
  const json = typeof value === 'string' && value.startsWith('[') ? parseJson(value) : null;
  const list = json?.ok === true && Array.isArray(json.value) && json.value.length > 0 ? json.value : value;
  return [list].flat().filter((one) => typeof one === 'string');
}
