import type { Agent, Tree } from '../core/agent.ts';
import type { Ask } from '../core/ask.ts';
import type { CronFire } from '../core/cron-job.ts';
import type { Delivery } from '../core/delivery.ts';
import type { Mail } from '../core/mail.ts';
import type { PlacedMessage } from '../core/message.ts';
import type { Run } from '../core/run.ts';
import type { Usage } from '../core/usage.ts';

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
