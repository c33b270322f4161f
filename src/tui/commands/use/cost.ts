import { addUsage, NO_USAGE, type Usage } from '../../../records/agent/usage.ts';
import { count } from '../../../render/amounts.ts';
import { clean } from '../../../render/clean.ts';
import type { AppContext } from '../../app-context.ts';
import { lastWritten } from '../changes/undo.ts';

interface Spent {
  readonly usage: Usage;
  readonly requests: number;
}

/** Width of `(999k cached)`. */
const CACHED_WIDTH = 13;
const NOTHING: Spent = { usage: NO_USAGE, requests: 0 };

/** `/cost`: shows what the tree in view has used since the person last wrote to its root, and in all; by agent and by model. */
export async function tellCost(app: AppContext): Promise<void> {
  const { root_id } = app.state;
  if (root_id === null) return app.say('nothing was used yet');
  const since = await lastWritten(app, root_id);
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
