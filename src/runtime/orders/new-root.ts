import type { AgentConfig } from '../../records/agent/agent.ts';
import { keptName, nameFault } from '../../records/agent/agent-name.ts';
import type { NewAgent } from '../../records/agent/new-agent.ts';
import { type AgentState, newTurn } from '../../records/agent/state.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { storable } from '../../records/text/text.ts';
import type { StartOptions } from '../runtime-face.ts';
import type { Surroundings } from '../surroundings.ts';

const MAIN = 'agent:main:main';

/** A root that rests until somebody writes to it. */
export function restingRoot(
  of: { readonly name: string; readonly session_key: string; readonly config: AgentConfig },
  worker: string | null,
  { now, newId }: Surroundings,
): NewAgent {
  return newRoot(of, { id: newId(), at: now(), worker, state: { type: 'idle' } }, []);
}

/** A root that begins with a person's prompt. Throws `E_INVALID_ARGUMENT` for a name that it cannot have. */
export function startingRoot(
  { prompt, images, config, name = 'main' }: StartOptions,
  worker: string | null,
  { now, newId }: Surroundings,
): NewAgent {
  const fault = nameFault(name, true);
  if (fault !== null) throw new CoppiceError('E_INVALID_ARGUMENT', fault);
  const at = now();
  const state: AgentState = { type: 'requesting', attempt: 1, turn: newTurn(at) };
  const content = {
    origin: 'human' as const,
    text: storable(prompt),
    ...(images === undefined ? {} : { images }),
  };
  const of = { name, session_key: MAIN, config };
  return newRoot(of, { id: newId(), at, worker, state }, [{ kind: 'user', content }]);
}

function newRoot(
  of: { readonly name: string; readonly session_key: string; readonly config: AgentConfig },
  as: {
    readonly id: string;
    readonly at: number;
    readonly worker: string | null;
    readonly state: AgentState;
  },
  messages: NewAgent['messages'],
): NewAgent {
  return {
    agent: {
      id: as.id,
      root_id: as.id,
      parent_id: null,
      name: keptName(of.name),
      session_key: of.session_key,
      origin: 'root',
      depth: 0,
      config: of.config,
      state: as.state,
      forked_from: null,
      worker: as.worker,
      created_at: as.at,
    },
    messages,
  };
}
