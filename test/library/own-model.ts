import { randomUUID } from 'node:crypto';
import type { Model, ModelRequest } from '../../src/core.ts';

/** A text ends the turn; calls are carried out, and the model is asked again with their results. */
export type Answer = string | readonly { readonly name: string; readonly input: object }[];

const USAGE = { input: 0, output: 0, cached: 0, reasoning: 0, cost_usd: null };

export function ownModel(id: string, answer: (request: ModelRequest) => Answer | Promise<Answer>): Model {
  return {
    id,
    context_window: null,
    tells_cost: false,
    // Never throws: every way to fail is an outcome.
    async stream(request, onDelta) {
      try {
        const said = await answer(request);
        if (request.signal.aborted) return { type: 'aborted' };
        if (typeof said !== 'string') {
          const parts = said.map(({ name, input }) => {
            return { type: 'call' as const, id: randomUUID(), name, input: JSON.stringify(input) };
          });
          return { type: 'answer', content: { model: id, parts }, usage: USAGE, finish: 'calls' };
        }
        onDelta({ type: 'text', text: said });
        const parts = [{ type: 'text' as const, text: said }];
        return { type: 'answer', content: { model: id, parts }, usage: USAGE, finish: 'stop' };
      } catch (error) {
        return { type: 'failure', failure: { kind: 'internal', error: String(error), retryable: false } };
      }
    },
  };
}

/** The newest message: what a person or another agent wrote, or the results of the calls. */
export function newest({ messages }: ModelRequest): string {
  const last = messages.at(-1);
  if (last?.role === 'results') return last.results.map(({ output }) => output).join('\n');
  return last?.role === 'user' ? last.text : '';
}
