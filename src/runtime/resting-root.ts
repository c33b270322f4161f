import type { AgentConfig } from '../core/agent.ts';
import type { NewAgent } from '../core/new-agent.ts';
import { storable } from '../core/text.ts';
import { type Surroundings, SYSTEM_SURROUNDINGS } from './surroundings.ts';

/** A root that rests until somebody writes to it. */
export function restingRoot(of: {
  readonly name: string;
  readonly session_key: string;
  readonly config: AgentConfig;
  readonly worker: string | null;
  readonly surroundings?: Surroundings;
}): NewAgent {
  const { now, newId } = of.surroundings ?? SYSTEM_SURROUNDINGS;
  const id = newId();
  return {
    agent: {
      id,
      root_id: id,
      parent_id: null,
      name: storable(of.name),
      session_key: of.session_key,
      origin: 'root',
      depth: 0,
      config: of.config,
      state: { type: 'idle' },
      forked_from: null,
      worker: of.worker,
      created_at: now(),
    },
    messages: [],
  };
}
