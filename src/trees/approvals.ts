import type { Agent } from '../records/agent/agent.ts';
import { openAsks } from '../records/conversation/parked.ts';

/**
 * Notices when approvals and questions of agents open or close. Each time the state of the asking agent changes; its conversation
 * does not tell of all: not of a question that its asker withdraws.
 */
export class AskWatch {
  readonly #open = new Map<string, string>();

  /** Whether other approvals of this agent are open than when it was seen last. */
  changed({ id, state }: Agent): boolean {
    const [before = '', now] = [this.#open.get(id), openAsks(state).join(' ')];
    if (now === '') this.#open.delete(id);
    else this.#open.set(id, now);
    return now !== before;
  }
}
