import { idleRoot } from '../../records/agent/agent.ts';
import { nameFault } from '../../records/agent/agent-name.ts';
import { type AgentState, newTurn } from '../../records/agent/state.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import type { NewAgent } from '../../records/run/new-agent.ts';
import { storable } from '../../records/text/text.ts';
import type { RestOptions, StartOptions } from '../runtime-face.ts';

const MAIN = 'agent:main:main';

type RootOptions = Pick<RestOptions, 'name' | 'session_key' | 'config'>;

/** Fields that the runtime adds. `worker`: the worker that leads the root from the start; null: none. */
export interface RootOrigin {
  readonly id: string;
  readonly created_at: number;
  readonly worker: string | null;
}

/** A root that is idle until it gets mail. */
export function restingRoot({ config: given, ...named }: RootOptions, origin: RootOrigin): NewAgent {
  const { output } = given;
  const config = output === undefined ? given : { ...given, output: { ...output, agent_id: origin.id } };
  return { agent: idleRoot({ ...named, ...origin, config }), messages: [] };
}

/** A root that begins with a person's prompt. Throws `E_INVALID_ARGUMENT` if its name is invalid. */
export function promptedRoot(
  { prompt, images, attached, letter, config, name = 'main' }: StartOptions,
  origin: RootOrigin,
): NewAgent {
  const fault = nameFault(name, true);
  if (fault !== null) throw new CoppiceError('E_INVALID_ARGUMENT', fault);
  const state: AgentState = { type: 'requesting', attempt: 1, turn: newTurn(origin.created_at) };
  const letters = letter === undefined ? undefined : [{ id: letter, from_id: null }];
  const content = {
    origin: 'human' as const,
    text: storable(prompt),
    ...(images && { images }),
    ...((attached ?? letters) && { facts: { ...(attached && { attached }), ...(letters && { letters }) } }),
  };
  const { agent } = restingRoot({ name, session_key: MAIN, config }, origin);
  return { agent: { ...agent, state }, messages: [{ kind: 'user', content }] };
}
