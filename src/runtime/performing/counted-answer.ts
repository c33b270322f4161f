import type { RequestRecord } from '../../kernel/step.ts';
import type { ModelOutcome } from '../../models/model.ts';
import { NO_USAGE } from '../../records/agent/usage.ts';
import type { Store } from '../../store/store.ts';
import type { Cell } from '../executor/cell.ts';
import type { Relieved } from './context-room.ts';
import type { ModelCache } from './model-cache.ts';
import type { Summarised } from './summarise.ts';

/**
 * The usage of an answer, and what of it limits count (docs/budgets.md#tokens-that-count): where a server reports no cache, what the agent's previous request and
 * its answer had sent does not count again. A conversation that has become shorter is new.
 */
export async function countedAnswer(
  cell: Cell,
  outcome: ModelOutcome | Relieved | Summarised,
  { models, store }: { readonly models: ModelCache; readonly store: Pick<Store, 'requests'> },
): Promise<Omit<RequestRecord, 'started_at' | 'duration_ms'> | undefined> {
  const answer = outcome.type === 'answer' ? { ...outcome, model: outcome.content.model } : null;
  const said = answer ?? (outcome.type === 'event' ? outcome.request : undefined);
  if (said === undefined) return;
  const { model, usage } = said;
  // If the ledger cannot be read, all of it counts.
  const before = cell.asked ?? (await store.requests(cell.agent.id).catch(() => [])).at(-1);
  cell.asked = { model, usage };
  if (usage.resent === undefined) models.reporting.add(model);
  const { input, output, cached } = before?.usage ?? NO_USAGE;
  // Some servers leave out the field where it would be 0.
  const is_new = cached > 0 || models.reporting.has(model) || before?.model !== model || usage.input < input;
  const resent = is_new ? 0 : Math.min(usage.input, input + output);
  return { model, usage: { ...usage, resent }, ...(cell.is_free && { is_free: true }) };
}
