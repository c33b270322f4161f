import { NO_USAGE } from '../records/agent/usage.ts';
import { readClientCall } from '../records/client-call.ts';
import type { CallPart } from '../records/conversation/message.ts';
import type { PromptMessage } from '../records/conversation/prompt-message.ts';
import type { Model, ModelOutcome, ModelRequest } from './model.ts';

/** Limits well below those of one message: the remaining calls are made in the turn's next message. */
const CALLS_MAX = 200;
const CHARACTERS_MAX = 1_000_000;

/**
 * Stands in for an external program that decides for an agent: makes the calls that the program's letters ask for, then ends the turn. It is stateless, so
 * any process that leads the agent carries out what the ledger holds.
 */
export const clientModel: Model = {
  id: 'client',
  context_window: null,
  tells_cost: true,
  async stream({ messages, signal }: ModelRequest): Promise<ModelOutcome> {
    if (signal.aborted) return { type: 'aborted' };
    const calls = openCalls(messages);
    const parts = calls.length > 0 ? calls : [{ type: 'text' as const, text: 'noted' }];
    const finish = calls.length > 0 ? 'calls' : 'stop';
    return { type: 'answer', content: { model: 'client', parts }, usage: NO_USAGE, finish };
  },
};

/** Calls that letters have asked for since the last turn ended and that have not been made. */
function openCalls(messages: readonly PromptMessage[]): readonly CallPart[] {
  const asked: CallPart[] = [];
  const made = new Set<string>();
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const message = messages[at] as PromptMessage;
    if (message.role === 'user') {
      const call = readClientCall(message.text);
      if (call !== null) asked.unshift({ type: 'call', id: call.id, name: call.tool, input: call.input });
    }
    if (message.role !== 'assistant') continue;
    const calls = message.parts.filter((part) => part.type === 'call');
    if (calls.length === 0) break;
    for (const { id } of calls) made.add(id);
  }
  let characters = 0;
  return asked
    .filter(({ id }) => !made.has(id))
    .filter(({ input }, index) => {
      characters += input.length;
      return index === 0 || (index < CALLS_MAX && characters <= CHARACTERS_MAX);
    });
}
