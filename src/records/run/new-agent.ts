import type { Agent } from '../agent/agent.ts';
import type { Message } from '../conversation/message.ts';
import type { NewRun } from './run.ts';

/** An agent to be created, in the step of its parent or as a root. It starts leased to `worker` with epoch 1. */
export interface NewAgent {
  readonly agent: Pick<
    Agent,
    | 'id'
    | 'root_id'
    | 'parent_id'
    | 'name'
    | 'session_key'
    | 'origin'
    | 'depth'
    | 'config'
    | 'state'
    | 'forked_from'
    | 'worker'
    | 'created_at'
  >;
  /** Its first own messages. Their seqs continue from its fork point (0 without one). */
  readonly messages: readonly Message[];
  /** Added to the run history in the same transaction. */
  readonly run?: NewRun;
}
