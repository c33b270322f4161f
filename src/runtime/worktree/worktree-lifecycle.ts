import type { EventOf } from '../../kernel/transition/event.ts';
import { transition } from '../../kernel/transition/transition.ts';
import type { TransitionContext } from '../../kernel/transition/transition-result.ts';
import type { Agent } from '../../records/agent/agent.ts';
import { isTerminal } from '../../records/agent/state.ts';
import type { Worktree } from '../../records/agent/task-terms.ts';
import { storable } from '../../records/text/text.ts';
import { removeWorktree, saveWorktree } from './git-worktree.ts';

type Ending = EventOf<'response' | 'request-failed'>;

/**
 * Worktrees of agents from their last answer on. Their changes are committed to the branch before the answer enters the ledger; the
 * folder goes after it has, so that a successor after a crash still finds it. Of an agent that was stopped or killed all stays.
 */
export class WorktreeLifecycle {
  /** Agents whose changes were saved for an answer that is to end them. */
  readonly #saved = new Map<string, Worktree>();
  readonly #removals = new Set<Promise<void>>();

  /** The event, with the changes as its appendix when it ends an agent that works in a worktree. */
  async complete<E extends Ending>(agent: Agent, event: E, context: TransitionContext): Promise<E> {
    const terms = agent.config.task;
    if (terms === undefined || terms.worktree === null) return event;
    // The kernel itself says whether this is the end: its decision is pure.
    const next = transition(agent.state, event, context);
    if (!next.ok || !isTerminal(next.state.type)) return event;
    const changes = storable(await saveWorktree(terms.worktree, `${agent.name} (${agent.id})`));
    this.#saved.set(agent.id, terms.worktree);
    // A result that must match a schema is left as it is; the changes are on the branch.
    const checked = next.state.type === 'completed' && terms.output_schema !== null;
    return checked ? event : { ...event, appendix: changes };
  }

  /** The ledger has it that the agent ended. */
  ended({ id, state }: Agent): void {
    const worktree = this.#saved.get(id);
    this.#saved.delete(id);
    if (worktree !== undefined && state.type !== 'killed') this.discard(worktree);
  }

  /** Nobody works in it any more. What its branch does not hold stays. */
  discard(worktree: Worktree): void {
    const removal = removeWorktree(worktree).finally(() => this.#removals.delete(removal));
    this.#removals.add(removal);
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#removals);
  }
}
