import type { Need, NeedAnswer, WorldNeed } from '../../kernel/toolsets/toolset.ts';
import type { WorldEffect } from '../../kernel/turn/advance-result.ts';
import type { Agent } from '../../records/agent/agent.ts';
import type { Worktree } from '../../records/agent/task-terms.ts';
import type { CoppiceError } from '../../records/coppice-error.ts';
import type { Store, WorkerRole } from '../../store/store.ts';
import type { RuntimeClock } from '../runtime-clock.ts';
import type { RuntimeEvent } from '../runtime-event.ts';
import type { NewId } from '../runtime-options.ts';
import type { ToolCatalog } from '../tool-catalog.ts';
import type { Cell } from './cell.ts';

export interface ExecutorOptions {
  readonly clock: RuntimeClock;
  readonly newId: NewId;
  readonly store: Store;
  readonly catalog: ToolCatalog;
  readonly role: WorkerRole;
  readonly labels: readonly string[];
  readonly emit: (event: RuntimeEvent) => void;
  /** Performs an effect of a committed step; its outcome comes back through `Executor.happened`. */
  readonly perform: (cell: Cell, effect: WorldEffect) => void;
  /** Resolves what a call needs from outside the ledger. Never rejects. */
  readonly resolveNeed: (agent: Agent, need: WorldNeed) => Promise<NeedAnswer>;
  /** Whether a call may create agents, by rules and grants. Rejects if the ledger cannot be reached. */
  readonly mayCreate: (agent: Agent, need: Extract<Need, { type: 'creation' }>) => Promise<NeedAnswer>;
  /** Removes a worktree that no agent will use. */
  readonly discard: (worktree: Worktree) => void;
  /** Called after a round with the trees whose agents took steps: one of them may have come to rest. Without an argument: no round is under way or due. */
  readonly onRound: (root_ids?: ReadonlySet<string>) => void;
  /** Called when an agent of the tree is led no more, because the ledger stores none of its steps. */
  readonly onStuck: (root_id: string, why: CoppiceError) => void;
}
