import { randomUUID } from 'node:crypto';
import type { AgentConfig } from '../core/agent.ts';
import type { NewAgent } from '../core/new-agent.ts';
import { storable } from '../core/text.ts';

/** A root that rests until somebody writes to it. */
export function restingRoot(of: {
  readonly name: string;
  readonly session_key: string;
  readonly config: AgentConfig;
  readonly worker: string | null;
}): NewAgent {
  const id = randomUUID();
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
      created_at: Date.now(),
    },
    messages: [],
  };
}
