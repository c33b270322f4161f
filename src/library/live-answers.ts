import type { RuntimeEvent } from '../runtime/runtime-event.ts';

/** The text of the answers that are under way in this process, by agent. */
export class LiveAnswers {
  readonly #said = new Map<string, string>();
  /** Seq of the newest answer in the ledger. */
  readonly #answered = new Map<string, number>();

  see(event: RuntimeEvent): void {
    if (event.type === 'delta') {
      const { agent_id: id, delta } = event;
      if (delta.type === 'text') this.#said.set(id, (this.#said.get(id) ?? '') + delta.text);
      else if (delta.type === 'restart') this.#said.set(id, '');
    } else if (event.type === 'message' && event.message.kind === 'assistant') {
      this.#answered.set(event.agent_id, event.message.seq);
      this.#said.delete(event.agent_id);
    } else if (event.type === 'agent' && event.agent.state.type !== 'requesting')
      this.#said.delete(event.agent.id);
  }

  /** What follows the message with this seq; undefined if nothing does, or if the answer is in the ledger by now. */
  after(seq: number, agent_id: string): string | undefined {
    return (this.#answered.get(agent_id) ?? 0) > seq ? undefined : this.#said.get(agent_id);
  }
}
