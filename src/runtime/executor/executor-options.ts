import type { Need, NeedAnswer, WorldNeed } from '../../kernel/toolsets/toolset.ts';
import type { WorldEffect } from '../../kernel/turn/advance-result.ts';
import type { Agent } from '../../records/agent/agent.ts';
import type { Worktree } from '../../records/agent/task-terms.ts';
import type { Store, WorkerRole } from '../../store/store.ts';
import type { RuntimeClock } from '../runtime-clock.ts';
import type { RuntimeEvent } from '../runtime-event.ts';
import type { ToolCatalog } from '../tool-catalog.ts';
import type { Cell } from './cell.ts';

export interface ExecutorOptions {
  readonly clock: RuntimeClock;
  readonly newId: () => string;
  readonly store: Store;
  readonly catalog: ToolCatalog;
  readonly role: WorkerRole;
  readonly labels: readonly string[];
  readonly emit: (event: RuntimeEvent) => void;
  /** Performs an effect of a committed step; its outcome comes back through `Executor.happened`. */
  readonly perform: (cell: Cell, effect: WorldEffect) => void;
  /** Looks up what only the world can tell a call. Never rejects. */
  readonly resolveNeed: (agent: Agent, need: WorldNeed) => Promise<NeedAnswer>;
  /** Whether a call may create agents, by what people granted. Rejects if the ledger cannot be reached. */
  readonly mayCreate: (agent: Agent, need: Extract<Need, { type: 'creation' }>) => Promise<NeedAnswer>;
  /** Removes a worktree in which nobody will work. */
  readonly discard: (worktree: Worktree) => void;
  /** A round ended in which agents of these trees took steps: one of them may have come to rest. Without any: no round is under way or due. */
  readonly onRound: (root_ids?: ReadonlySet<string>) => void;
}
