import type { ModelDelta } from '../models/model.ts';
import type { Agent } from '../records/agent/agent.ts';
import type { Mail } from '../records/conversation/mail.ts';
import type { PlacedMessage } from '../records/conversation/message.ts';

/**
 * What a watcher of this process sees. `agent`, `message`, `mail`, `killed` and `removed` are facts: they are sent after their
 * transaction is acknowledged. `delta`, `output` and `ledger` are live only and leave no trace.
 */
export type RuntimeEvent =
  /** The agent was created, or something about it changed: state, calls, usage, doing. */
  | { readonly type: 'agent'; readonly agent: Agent; readonly created: boolean }
  | { readonly type: 'message'; readonly agent_id: string; readonly message: PlacedMessage }
  | { readonly type: 'mail'; readonly mail: Mail }
  | { readonly type: 'killed'; readonly ids: readonly string[]; readonly by: string }
  /** Conversations that were deleted after their outcome was delivered. */
  | { readonly type: 'removed'; readonly ids: readonly string[] }
  | { readonly type: 'delta'; readonly agent_id: string; readonly delta: ModelDelta }
  | { readonly type: 'output'; readonly agent_id: string; readonly call_id: string; readonly text: string }
  /** The ledger cannot be reached (nothing new starts, nothing is lost), or can be again. */
  | { readonly type: 'ledger'; readonly reachable: boolean; readonly text: string };
