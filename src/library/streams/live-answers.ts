import type { RuntimeEvent } from '../../runtime/runtime-event.ts';

/** A piece of an answer. A call has no text before it is whole: it only parts the texts around it. */
export interface LivePart {
  readonly type: 'text' | 'reasoning' | 'call';
  readonly text: string;
}

/** The answers that are under way in this process, by agent. */
export class LiveAnswers {
  readonly #said = new Map<string, LivePart[]>();
  /** Seq of the newest answer in the ledger. */
  readonly #answered = new Map<string, number>();

  see(event: RuntimeEvent): void {
    if (event.type === 'delta') {
      const { agent_id: id, delta } = event;
      if (delta.type === 'restart') this.#said.delete(id);
      else if (delta.type !== 'waiting' && delta.type !== 'sent')
        this.#said.set(id, joined([...(this.#said.get(id) ?? []), delta]));
    } else if (event.type === 'message' && event.message.kind === 'assistant') {
      this.#answered.set(event.agent_id, event.message.seq);
      this.#said.delete(event.agent_id);
    } else if (event.type === 'agent' && event.agent.state.type !== 'requesting')
      this.#said.delete(event.agent.id);
  }

  /** What follows the message with this seq; nothing if the answer is in the ledger by now. */
  after(seq: number, agent_id: string): readonly LivePart[] {
    return (this.#answered.get(agent_id) ?? 0) > seq ? [] : (this.#said.get(agent_id) ?? []);
  }

  textAfter(seq: number, agent_id: string): string {
    return this.after(seq, agent_id).reduce(
      (all, { type, text }) => (type === 'text' ? all + text : all),
      '',
    );
  }
}

/** The parts without empty ones, neighbours of one kind as one. */
export function joined(parts: readonly (Pick<LivePart, 'type'> & { readonly text?: string })[]): LivePart[] {
  const all: LivePart[] = [];
  for (const { type, text = '' } of parts) {
    const last = all.at(-1);
    if (last?.type === type) all[all.length - 1] = { type, text: last.text + text };
    else if (type === 'call' || text !== '') all.push({ type, text });
  }
  return all;
}
