import * as z from 'zod';
import { amountText, type BudgetTerms, type Left, type PathBudget } from '../../../records/agent/budget.ts';
import { MAX_TASK_SECONDS } from '../arguments.ts';
import type { ToolsetView } from '../toolset.ts';

/** The option `budget` of every tool that creates an agent (docs/budgets.md). */
export const budgetOption = z
  .strictObject({
    tokens: z.int().positive().nullish(),
    usd: z.number().positive().nullish(),
    seconds: z.number().positive().max(MAX_TASK_SECONDS).nullish(),
  })
  .nullish()
  .describe('What it and the agents below it may spend, out of what is left to you.');

export type AskedBudget = z.infer<typeof budgetOption>;

export type ChildBudget =
  | { readonly ok: true; readonly budget: Omit<PathBudget, 'agent_id'> | null }
  | { readonly ok: false; readonly error: string };

/**
 * The budget of a new child: what the call asks for, at most what the profile allows. A request for more than is left is refused; a budget that only the
 * profile sets is cut to what is left. Without either (null), the child spends from its creator's budget, of which something must be left. `sharers`: the
 * number of children, this one included, that share what is left.
 */
export function childBudget(
  view: ToolsetView,
  asked: AskedBudget,
  profile: BudgetTerms | null | undefined,
  sharers = 1,
): ChildBudget {
  const left = view.left();
  const seconds = Number.isFinite(left.until) ? Math.max(0, (left.until - view.now) / 1_000) : null;
  const rest = { tokens: left.tokens, usd: left.usd, seconds };
  const budget: { tokens?: number; usd?: number; seconds?: number } = {};
  for (const name of ['tokens', 'usd', 'seconds'] as const) {
    const [wish, most, here] = [asked?.[name] ?? null, profile?.[name] ?? null, rest[name]];
    if (here !== null && here <= 0)
      return {
        ok: false,
        error: `nothing is left of your budget: ${leftText(rest)}. Do not create agents; finish.`,
      };
    const each = here === null || name === 'seconds' ? here : here / sharers;
    if (wish !== null && here !== null && wish > here) {
      return {
        ok: false,
        error: `field "budget.${name}": ${wish} is more than what is left for you: ${leftText(rest)}. Ask for less, or leave "budget" out to share what is left.`,
      };
    }
    const own = wish === null ? most && Math.min(most, each ?? most) : Math.min(wish, most ?? wish);
    if (own !== null) budget[name] = name === 'tokens' ? Math.floor(own) : own;
  }
  if (Object.keys(budget).length === 0) return { ok: true, budget: null };
  const until = budget.seconds === undefined ? {} : { until: view.now + Math.round(budget.seconds * 1_000) };
  return { ok: true, budget: { ...budget, ...until } };
}

/** `$0.25, 12,000 tokens, 90 s`. */
export function leftText({
  tokens,
  usd,
  seconds,
}: Omit<Left, 'until'> & { readonly seconds: number | null }): string {
  const parts = [
    ...(usd === null ? [] : [amountText('usd', usd)]),
    ...(tokens === null ? [] : [amountText('tokens', tokens)]),
    ...(seconds === null ? [] : [`${Math.floor(seconds)} s`]),
  ];
  return parts.join(', ');
}
