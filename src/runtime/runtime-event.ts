import type { ModelDelta } from '../models/model.ts';
import type { Agent } from '../records/agent/agent.ts';
import type { Mail } from '../records/conversation/mail.ts';
import type { PlacedMessage } from '../records/conversation/message.ts';

/**
 * Event for subscribers of a runtime. `agent`, `message`, `mail`, `killed` and `removed` follow an acknowledged transaction;
 * `delta`, `output`, `notice` and `ledger` are live only and not stored.
 */
export type RuntimeEvent =
  /** The agent was created or has changed (state, calls, usage, `doing`). */
  | { readonly type: 'agent'; readonly agent: Agent; readonly created: boolean }
  | { readonly type: 'message'; readonly agent_id: string; readonly message: PlacedMessage }
  | { readonly type: 'mail'; readonly mail: Mail }
  | { readonly type: 'killed'; readonly ids: readonly string[]; readonly by: string }
  /** Agents whose conversations were deleted after their outcome was delivered. */
  | { readonly type: 'removed'; readonly ids: readonly string[] }
  | { readonly type: 'delta'; readonly agent_id: string; readonly delta: ModelDelta }
  | { readonly type: 'output'; readonly agent_id: string; readonly call_id: string; readonly text: string }
  /** Notice for people about an agent, such as an MCP server that cannot be used; its model is told in another way. */
  | { readonly type: 'notice'; readonly agent_id: string; readonly text: string; readonly about?: 'tools' }
  /** The ledger became unreachable, or reachable again. While it is unreachable, nothing starts and nothing is lost. */
  | { readonly type: 'ledger'; readonly reachable: boolean; readonly text: string };
