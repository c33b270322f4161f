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
 * Saves and removes worktrees of agents that end. Changes are committed to the branch before the last answer enters the ledger; the folder is removed
 * afterwards, so that it is still there after a crash. Worktrees of stopped or killed agents stay.
 */
export class WorktreeLifecycle {
  /** Worktrees that were saved for a last answer, by agent id. */
  readonly #saved = new Map<string, Worktree>();
  readonly #removals = new Set<Promise<unknown>>();

  /** Returns the event, with the changes as its appendix if it ends an agent in a worktree. */
  async complete<E extends Ending>(agent: Agent, event: E, context: TransitionContext): Promise<E> {
    const terms = agent.config.task;
    if (terms === undefined || terms.worktree === null) return event;
    // The kernel is pure, so it can be asked whether this event ends the agent.
    const next = transition(agent.state, event, context);
    if (!next.ok || !isTerminal(next.state.type)) return event;
    const { text, files } = await saveWorktree(terms.worktree, `${agent.name} (${agent.id})`);
    this.#saved.set(agent.id, terms.worktree);
    // A result that matches a schema must stay valid; its changes are on the branch.
    const checked = next.state.type === 'completed' && terms.output_schema !== null;
    const changed = { ...event, changed: files.map(storable) };
    return checked ? changed : { ...changed, appendix: storable(text) };
  }

  /** Called when the end of the agent is committed; discards its saved worktree unless the agent was killed. */
  ended({ id, state }: Agent): void {
    const worktree = this.#saved.get(id);
    this.#saved.delete(id);
    if (worktree !== undefined && state.type !== 'killed') this.discard(worktree);
  }

  /** Removes the worktree of an agent that never began or has ended; unsaved work stays. */
  discard(worktree: Worktree): void {
    const removal = removeWorktree(worktree).finally(() => this.#removals.delete(removal));
    this.#removals.add(removal);
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#removals);
  }
}
