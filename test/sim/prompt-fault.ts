import type { ModelRequest } from '../../src/models/model.ts';
import { promptOf } from '../../src/records/conversation/prompt.ts';
import type { SimLedger } from './sim-ledger.ts';

/**
 * Returns what is wrong with the conversation that a model is shown, in words, or null: every call must have its result before the next answer (law 5),
 * and, while its writer still leads the agent, all of it must be in the ledger (law 12).
 */
export async function promptFault(
  request: ModelRequest,
  worker_id: string,
  ledger: SimLedger,
): Promise<string | null> {
  const { messages, agent } = request;
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'assistant') continue;
    const calls = message.parts.flatMap((part) => (part.type === 'call' ? part.id : []));
    const next = messages[index + 1];
    const answered = next?.role === 'results' ? next.results.map((result) => result.call_id) : [];
    if (calls.join() !== answered.join()) return `law 5: ${agent.id} is shown calls without their results`;
  }
  if ((await ledger.store.agent(agent.id))?.worker !== worker_id) return null;
  const kept = promptOf(await ledger.store.history(agent.id)).messages();
  // A request for a summary ends with an instruction that is not stored as a row.
  const last = messages.at(-1);
  const is_order = last?.role === 'user' && last.text.includes('replaced by your summary');
  const shown = is_order ? messages.slice(0, -1) : messages;
  const same = shown.every((message, index) => JSON.stringify(message) === JSON.stringify(kept[index]));
  return same ? null : `law 12: ${agent.id} is shown another history than the ledger keeps`;
}
