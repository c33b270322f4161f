import type { Agent, Tree } from '../records/agent/agent.ts';
import type { Usage } from '../records/agent/usage.ts';
import type { Ask } from '../records/conversation/ask.ts';
import type { Mail } from '../records/conversation/mail.ts';
import type { PlacedMessage } from '../records/conversation/message.ts';
import type { CronFire } from '../records/run/cron-job.ts';
import type { Delivery } from '../records/run/delivery.ts';
import type { Run } from '../records/run/run.ts';

/** As `RequestRecord` of the store. */
interface ArchivedRequest {
  readonly model: string;
  readonly usage: Usage;
  readonly started_at: number;
  readonly duration_ms: number;
}

/** What an archive holds of the ledger: one line of JSON each (docs/retention.md). */
export type ArchiveEntry =
  | { readonly type: 'tree'; readonly tree: Tree }
  | { readonly type: 'agent'; readonly agent: Agent }
  | { readonly type: 'message'; readonly message: PlacedMessage }
  | { readonly type: 'mail'; readonly mail: Mail }
  | { readonly type: 'request'; readonly agent_id: string; readonly request: ArchivedRequest }
  | { readonly type: 'edge'; readonly waiter: string; readonly target: string }
  | { readonly type: 'ask'; readonly ask: Ask }
  | { readonly type: 'run'; readonly run: Run }
  | { readonly type: 'delivery'; readonly delivery: Delivery }
  | { readonly type: 'fire'; readonly fire: CronFire };
