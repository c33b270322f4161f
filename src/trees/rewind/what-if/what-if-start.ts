import type { AgentConfig } from '../../../records/agent/agent.ts';
import { DEFAULT_SPENDING_LIMITS } from '../../../records/agent/limits.ts';
import { CoppiceError } from '../../../records/coppice-error.ts';
import { given } from '../../../records/text/json-fields.ts';
import type { RuntimeFace } from '../../../runtime/runtime-face.ts';
import type { Store } from '../../../store/store.ts';
import type { Root } from '../../open-tree.ts';
import { assertCells, assertRepository } from './cell-tree.ts';
import { type Cell, type WhatIfOrder, whatIfRoot } from './what-if-run.ts';

/** What is asked for at any door: what is different in the continuations, and what is done with each. */
export interface WhatIfAsked {
  readonly models?: readonly string[] | undefined;
  /** Texts, which without a name have that of their first words. */
  readonly prompts?: readonly (string | Pick<Cell, 'name' | 'prompt'>)[] | undefined;
  readonly profiles?: readonly string[] | undefined;
  /** How often each is made. */
  readonly times?: number | undefined;
  readonly check?: string | undefined;
  readonly schema?: WhatIfOrder['schema'] | undefined;
  readonly judge?: string | undefined;
  /** Default: the model of the tree. */
  readonly judge_model?: string | undefined;
  /** Of all together. */
  readonly limits?: { readonly [Name in 'tokens' | 'cost_usd']?: number | null | undefined } | undefined;
  /** Whether all work in the folder of the tree, without worktrees. */
  readonly here?: boolean | undefined;
  readonly at_once?: number | undefined;
  readonly again?: string | undefined;
}

/** The tree that is continued from a moment, or the cases that are run. */
export interface Compared extends Pick<WhatIfOrder, 'root_id' | 'at' | 'cases'> {
  readonly model: string;
  readonly cwd?: string | undefined;
}

const CELLS_MAX = 100;
const AT_ONCE = 4;
const NAME_MAX = 40;

/**
 * The root of a run that does what is asked for. `compose`: what a root has with a profile and a model in a folder. Rejects with a `CoppiceError` for a moment that
 * is none, for worktrees that cannot be made, and for an unknown profile.
 */
export async function whatIfStart<R extends Root>(
  store: Store,
  { model, cwd, ...compared }: Compared,
  asked: WhatIfAsked,
  compose: (one: { profile?: string; model: string; cwd: string | undefined }) => R | Promise<R>,
) {
  const { prompts = [], times = 1, check, schema, judge, judge_model = model, here = false } = asked;
  const root = compared.root_id === undefined ? null : await store.agent(compared.root_id);
  if (root !== null) await assertCells(store, root, compared.at ?? '', here);
  else if (!here && cwd !== undefined) await assertRepository(cwd, Date.now());
  const models = (asked.models ?? []).map((one) => ({ name: one, model: one }));
  const named = prompts.map((one) =>
    typeof one === 'string' ? { name: one.replaceAll(/\s+/g, ' ').slice(0, NAME_MAX), prompt: one } : one,
  );
  const blank = root === null ? undefined : named.find(({ prompt = '' }) => prompt.trim() === '');
  if (blank !== undefined)
    throw new CoppiceError('E_INVALID_ARGUMENT', `the prompt "${blank.name}" is empty`);
  const profiles = await Promise.all(
    (asked.profiles ?? []).map(async (name) => ({
      name,
      profile: ofProfile((await compose({ profile: name, model, cwd })).config),
    })),
  );
  const order: WhatIfOrder = {
    ...{ ...compared, here, cells: cellsOf([models, named, profiles], times, compared.cases) },
    ...given({ check, schema }),
    ...(judge === undefined ? {} : { judge: { question: judge, model: judge_model } }),
  };
  const { tokens, cost_usd } = asked.limits ?? {};
  const is_usual = tokens === undefined && cost_usd === undefined;
  const limits = is_usual
    ? DEFAULT_SPENDING_LIMITS
    : { tokens: tokens ?? null, cost_usd: cost_usd ?? null, usual: false };
  // Of its agents, only the judge asks a model that is not a tree.
  const composed = await compose({ model: order.judge?.model ?? model, cwd });
  const { at_once = AT_ONCE, again } = asked;
  return {
    start: whatIfRoot(composed, order, limits, { at_once, again }),
    limits,
    cells: order.cells.length,
  };
}

/** Rejects for a model that cannot be asked here: whoever names one can still name another. */
export async function assertModels(
  runtime: RuntimeFace,
  config: AgentConfig,
  models: readonly string[] = [],
): Promise<void> {
  for (const model of models) await runtime.checked({ ...config, model, tools: [], toolsets: [] });
}

/** What a root that begins with a profile has from it; its model and folder are those of the tree. */
function ofProfile({
  system,
  instructions,
  thinking,
  toolsets,
  tools,
  permissions,
  require,
  turns,
}: AgentConfig) {
  return given({ system, instructions, thinking, toolsets, tools, permissions, require, turns });
}

/** Every combination of one choice of each list, for each case; an empty list changes nothing. */
function cellsOf(
  lists: readonly (readonly Cell[])[],
  times: number,
  cases: WhatIfOrder['cases'],
): readonly Cell[] {
  const entrants = combined(lists).map((cell) => ({ ...cell, entrant: cell.name || 'unchanged' }));
  const repeated = Array.from({ length: times }, (_, at) => ({ name: times === 1 ? '' : `${at + 1}` }));
  const runs = cases?.map(({ name }, place) => ({ name, place }));
  const cells = (
    runs === undefined ? combined([...lists, repeated]) : combined([runs, entrants, repeated])
  ).map((cell) => ({ ...cell, name: cell.name || 'unchanged' }));
  if (new Set(cells.map(({ name }) => name)).size < cells.length)
    throw new CoppiceError(
      'E_INVALID_ARGUMENT',
      'two of them would be the same: name each model, prompt and profile once',
      {
        hint: 'To make each several times, say how often (--times 3, times: 3)',
      },
    );
  if (cells.length > CELLS_MAX)
    throw new CoppiceError(
      'E_INVALID_ARGUMENT',
      `${cells.length} continuations or runs; at most ${CELLS_MAX}`,
    );
  return cells;
}

function combined(lists: readonly (readonly Cell[])[]): readonly Cell[] {
  return lists
    .filter((list) => list.length > 0)
    .reduce<readonly Cell[]>(
      (all, list) =>
        all.flatMap((one) =>
          list.map((more) => ({ ...one, ...more, name: `${one.name} ${more.name}`.trim() })),
        ),
      [{ name: '' }],
    );
}
