import type { RuntimeEvent } from '../../runtime/runtime-event.ts';

type LiveEvent = Extract<RuntimeEvent, { readonly type: 'delta' | 'output' }>;

/** Buffer for text of models and output of calls, which arrive word by word; consecutive pieces are joined. */
export class LiveText {
  #pending: LiveEvent[] = [];

  add(event: LiveEvent): void {
    const last = this.#pending.at(-1);
    const joined = last === undefined ? null : join(last, event);
    if (joined === null) this.#pending.push(event);
    else this.#pending[this.#pending.length - 1] = joined;
  }

  take(): readonly LiveEvent[] {
    const taken = this.#pending;
    this.#pending = [];
    return taken;
  }
}

/** Returns null if the events cannot be joined. */
function join(one: LiveEvent, next: LiveEvent): LiveEvent | null {
  if (one.agent_id !== next.agent_id) return null;
  if (one.type === 'output')
    return next.type === 'output' && next.call_id === one.call_id
      ? { ...one, text: one.text + next.text }
      : null;
  if (next.type !== 'delta') return null;
  const { delta } = one;
  if (delta.type !== next.delta.type || !('text' in delta) || !('text' in next.delta)) return null;
  return { ...one, delta: { ...delta, text: delta.text + next.delta.text } };
}
