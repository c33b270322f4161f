import { checkScript } from '../../models/workflow/check-script.ts';
import type { LoadedScript } from '../../models/workflow/saved-scripts.ts';
import type { AgentConfig } from '../../records/agent/agent.ts';
import { amountText } from '../../records/agent/budget.ts';
import { estimateOf, fanOutText } from '../../records/agent/estimate.ts';
import { DEFAULT_LIMITS, newTreeLimits } from '../../records/agent/limits.ts';
import { clean } from '../../render/clean.ts';
import type { Store } from '../../store/store.ts';
import type { Root } from '../open-tree.ts';
import { uncountedLine } from './saved-workflows.ts';

const NOTICES_MAX = 5;

/**
 * What a person is told of a workflow before it starts: what it is, its phases, the agents that it starts with invented results and what such agents have used in
 * this ledger, and its budget. Each entry is one line.
 */
export async function consentLines(
  store: Pick<Store, 'pastAgents'>,
  { meta, source, within }: Pick<LoadedScript, 'meta' | 'source' | 'within'>,
  args: unknown,
  config: Pick<AgentConfig, 'profile' | 'model'>,
  budget: readonly string[],
): Promise<string[]> {
  const check = await checkScript({ source, within, ...(args === undefined ? {} : { args }) });
  const calls = check.calls.filter(({ kind }) => kind === 'agent');
  const kinds = Map.groupBy(calls, ({ options }) => JSON.stringify([options.agentType, options.model]));
  const planned = await Promise.all(
    [...kinds.values()].map(async (same) => {
      const { agentType, model } = same[0]?.options ?? {};
      const kind = {
        profile: typeof agentType === 'string' ? clean(agentType) : (config.profile ?? null),
        model: typeof model === 'string' && model !== 'inherit' ? clean(model) : config.model,
      };
      return { ...kind, count: same.length, estimate: estimateOf(await store.pastAgents(kind)) };
    }),
  );
  const { end, notices, depth, uncounted } = check;
  const phases = [...check.phases].map(([title, count]) => {
    const detail = meta.phases.find((one) => one.title === title)?.detail ?? null;
    return `  ${clean(title ?? '(no phase)')}: ${count}${detail === null ? '' : `, ${clean(detail)}`}`;
  });
  return [
    clean(meta.description),
    ...(check.phases.size > 0 ? ['agents by phase, with invented results:', ...phases] : []),
    `starts ${uncounted.length > 0 ? 'at least ' : ''}${fanOutText(planned)}${end.type === 'bounded' ? ', and more' : ''}; ${depth} deep`,
    ...uncountedLine(uncounted).map((line) => clean(line)),
    ...(end.type === 'failed' ? [`with invented results it fails: ${clean(end.failure.message)}`] : []),
    ...within.map(
      ({ wanted, name, description, script }) =>
        `may run ${clean(wanted)}, ${script.split('\n').length} lines: ${clean(`${name}, ${description}`)}`,
    ),
    ...notices.slice(0, NOTICES_MAX).map((notice) => `note: ${clean(notice)}`),
    ...budget.map((one) => `budget, ${one}`),
  ];
}

/** What the run may spend, before there is a tree. */
export function unspentBudget({ config, limits }: Root): string[] {
  const { tokens, cost_usd } = newTreeLimits({ ...DEFAULT_LIMITS, ...limits }, limits);
  const own = config.budgets?.[0];
  const amounts = (whose: string, usd: number | null | undefined, of_tokens: number | null | undefined) => {
    const said = [
      usd == null ? [] : amountText('usd', usd),
      of_tokens == null ? [] : amountText('tokens', of_tokens),
    ];
    return `${whose}: ${said.flat().join(', ') || 'no limit'}`;
  };
  return [amounts('tree', cost_usd, tokens), ...(own ? [amounts('own', own.usd, own.tokens)] : [])];
}
