import { budgetDocument, budgetLines } from '../../documents/budget-json.ts';
import type { SpendingLimits } from '../../records/agent/spending.ts';
import { addUsage, NO_USAGE, type Usage } from '../../records/agent/usage.ts';
import { count } from '../../render/amounts.ts';
import { clean } from '../../render/clean.ts';
import type { AppContext } from '../app-context.ts';
import type { ExportFormat } from '../app-options.ts';

interface Spent {
  readonly usage: Usage;
  readonly requests: number;
}

/** Width of `(999k cached)`. */
const CACHED_WIDTH = 13;
const NOTHING: Spent = { usage: NO_USAGE, requests: 0 };

/** `/export`: writes the tree in view into a file. */
export async function exportTree(app: AppContext, format: ExportFormat, file: string | null): Promise<void> {
  const { root_id } = app.state;
  if (root_id === null) return app.say('there is nothing to export yet', 'bad');
  app.say(`written: ${await app.exportTree(root_id, format, file)}`, 'good');
}

/** `/cost`: shows what the tree in view has used since the person last wrote to its root, and in all; by agent and by model. */
export async function tellCost(app: AppContext): Promise<void> {
  const { root_id } = app.state;
  if (root_id === null) return app.say('nothing was used yet');
  const history = await app.store.history(root_id);
  const since =
    history.findLast(
      ({ kind, content }) => kind === 'user' && 'origin' in content && content.origin === 'human',
    )?.at ?? 0;
  let [turn, total] = [NOTHING, NOTHING];
  const by_agent = new Map<string, Spent>();
  const by_model = new Map<string, Spent>();
  // From the ledger, because reaped agents count too.
  for (const { id, name } of (await app.store.agents({ root_id })).toReversed())
    for (const { model, usage, started_at } of await app.store.requests(id)) {
      total = more(total, usage);
      if (started_at >= since) turn = more(turn, usage);
      by_agent.set(name, more(by_agent.get(name) ?? NOTHING, usage));
      by_model.set(model, more(by_model.get(model) ?? NOTHING, usage));
    }
  const rows = [['this turn', turn] as const, ['in all', total] as const];
  const parts = [...rows, ...(by_agent.size > 1 ? by_agent : []), ...by_model];
  app.say(parts.map(([name, spent]) => `${amounts(spent)}  ${clean(name)}`).join('\n'));
}

function more({ usage, requests }: Spent, used: Usage): Spent {
  return { usage: addUsage(usage, used), requests: requests + 1 };
}

function amounts({ usage: { input, cached, output, cost_usd }, requests }: Spent): string {
  const cost = cost_usd === null ? 'cost unknown' : `$${cost_usd.toFixed(4)}`;
  const from_cache = (cached === 0 ? '' : `(${count(cached)} cached)`).padEnd(CACHED_WIDTH);
  return `${cost.padStart(12)}  ${count(input).padStart(6)} in ${from_cache}  ${count(output).padStart(6)} out  ${`${requests} request${requests === 1 ? ' ' : 's'}`.padStart(12)}`;
}

/** `/budget`: shows what an agent may still spend; with amounts, changes its budget first. */
export async function changeBudget(app: AppContext, agent_id: string, wanted: SpendingLimits): Promise<void> {
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
