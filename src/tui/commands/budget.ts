import { budgetDocument, budgetLines } from '../../documents/budget-json.ts';
import type { SpendingLimits } from '../../records/agent/spending.ts';
import { clean } from '../../render/clean.ts';
import type { AppContext } from '../app-context.ts';
import { resolveAgent } from './agents/find-agent.ts';

/** `/budget`: shows what an agent may still spend; with amounts, changes its budget first. */
export async function changeBudget(
  app: AppContext,
  { agent: named, wanted }: { readonly agent: string | null; readonly wanted: SpendingLimits },
  view: string | null,
): Promise<void> {
  const agent_id = named === null ? view : resolveAgent(app, named);
  if (agent_id === null) return;
  const { store } = app;
  const is_change = Object.keys(wanted).length > 0;
  const changed = is_change ? await store.changeBudget(agent_id, wanted) : { ok: true as const };
  const agent = await store.agent(agent_id);
  if (agent === null) return app.say('that agent no longer exists', 'bad');
  const { name, state } = agent;
  if (is_change) app.refresh();
  if (!changed.ok) return app.say(`the budget of ${clean(name)} is unchanged: ${changed.error}`, 'bad');
  const lines = budgetLines(await budgetDocument(store, agent)).map(clean);
  const stopped = is_change && state.type === 'errored' && state.failure.kind === 'limit';
  app.say([clean(name), ...lines, ...(stopped ? ['/retry lets it continue'] : [])].join('\n'));
}
