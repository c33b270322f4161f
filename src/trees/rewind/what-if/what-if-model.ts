import { argumentsFault } from '../../../kernel/toolsets/json-schema/arguments-fault.ts';
import type { Model, ModelOutcome } from '../../../models/model.ts';
import { commandEnvironment } from '../../../processes/starting/unattended.ts';
import {
  type Agent,
  type AgentConfig,
  type Tree,
  WHAT_IF,
  worktreeOf,
} from '../../../records/agent/agent.ts';
import type { Limits } from '../../../records/agent/limits.ts';
import { NO_USAGE } from '../../../records/agent/usage.ts';
import { parseJson } from '../../../records/text/json-text.ts';
import type { RuntimeFace } from '../../../runtime/runtime-face.ts';
import { testFailure } from '../../../runtime/worktree/merge-and-test.ts';
import { savedAndChecked } from '../../../runtime/worktree/past-worktree.ts';
import type { Store } from '../../../store/store.ts';
import { derivedId } from '../../derived-id.ts';
import { cellOfCase, enterCell } from './cell-tree.ts';
import {
  type CellEnd,
  cellOf,
  cellTree,
  type SharedLimits,
  usedIn,
  type WhatIfOrder,
} from './what-if-run.ts';

interface WhatIfParts {
  readonly store: Store;
  readonly runtime: () => RuntimeFace;
  readonly spill_dir: string;
  /** Variables that the command which checks gets, too. */
  readonly env_allow: readonly string[];
}

/**
 * The model of a cell: its answer is how the tree of the cell went on. That tree has an id that follows from its agent, so a request that is made again, after a
 * crash or elsewhere, goes on with it.
 */
export function whatIfModel(parts: WhatIfParts): Model {
  return {
    ...{ id: WHAT_IF, context_window: null, tells_cost: true, is_free: true },
    stream({ agent, signal }) {
      const { promise, resolve } = Promise.withResolvers<ModelOutcome>();
      const stop = () => resolve({ type: 'aborted' });
      signal.addEventListener('abort', stop, { once: true });
      if (signal.aborted) stop();
      continued(parts, agent.id, signal).then(resolve, async ({ message }: Error) => {
        resolve({ type: 'failure', failure: { kind: 'internal', error: message, retryable: false } });
      });
      return promise.finally(() => signal.removeEventListener('abort', stop));
    },
  };
}

async function continued(
  { store, runtime, spill_dir, env_allow }: WhatIfParts,
  agent_id: string,
  signal: AbortSignal,
): Promise<ModelOutcome> {
  const agent = await store.agent(agent_id);
  const found = agent && cellOf(agent, await store.agent(agent.parent_id ?? ''));
  if (!found) throw new Error('this model is for the agents of coppice what-if');
  const { order, cell } = found;
  const id = cellTree(agent_id);
  const begun = order.cases?.[cell.place ?? 0];
  let limits: Partial<Limits> = {};
  if (begun === undefined) {
    const letter = await enterCell(store, order, cell, id, spill_dir);
    if (letter !== undefined) await runtime().send(id, letter, { id: derivedId(`${id} prompt`) });
    const [tree, cut] = [await store.tree(id), await store.agent(id)];
    const has_begun = (await store.agents({ root_id: id })).some(({ usage }) => usage.output > 0);
    if (tree && cut && !has_begun) limits = await boundBy(order.share, tree, cut.config, runtime());
  } else if ((await store.agent(id)) === null) {
    const start = await cellOfCase(begun, cell, order.here, id, spill_dir);
    const bound = await boundBy(order.share, { tokens: 0, cost_usd: 0 }, start.config, runtime());
    await runtime().start({ ...start, limits: { ...start.limits, ...bound } });
  }
  await runtime().resume(id, { limits });
  const end = await runtime()
    .settled(id, 'tree', signal)
    .catch(async (error: Error) => {
      // A continuation whose agent was ended is ended, too.
      if ((await store.agent(agent_id))?.state.type === 'killed') await runtime().kill(id);
      throw error;
    });
  const { root, agents, outcome, outcome_text, reply: answer } = end;
  const judged = await judgedCell(order, root, answer, commandEnvironment(env_allow), signal);
  const told = {
    ...{ name: cell.name, tree: id, outcome, outcome_text, answer },
    ...usedIn(agents),
    seconds: Math.round(Math.max(0, ...agents.map(({ updated_at }) => updated_at - root.created_at)) / 1_000),
    ...judged,
    passed: outcome === 'done' && [judged.check, judged.schema_fault].every((one) => (one ?? 'ok') === 'ok'),
  } satisfies CellEnd;
  const parts = [{ type: 'text' as const, text: JSON.stringify(told) }];
  // What that tree used is counted there.
  return { type: 'answer', content: { model: WHAT_IF, parts }, usage: NO_USAGE, finish: 'stop' };
}

/** The limits of a continuation: what was spent up to the cut counts, too. */
async function boundBy(
  { tokens, cost_usd, usual }: SharedLimits,
  spent: Pick<Tree, 'tokens' | 'cached' | 'cost_usd'>,
  config: AgentConfig,
  runtime: RuntimeFace,
): Promise<Partial<Limits>> {
  const limits = {
    tokens: tokens && spent.tokens - (spent.cached ?? 0) + tokens,
    cost_usd: cost_usd && spent.cost_usd + cost_usd,
  };
  const is_bound = !usual || (await runtime.checked(config, limits).catch(() => null));
  return is_bound ? limits : {};
}

/** What a continuation changed, and what is said of it. */
async function judgedCell(
  { check: command, schema }: WhatIfOrder,
  { name, config }: Agent,
  answer: string,
  env: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Pick<CellEnd, 'branch' | 'files' | 'check' | 'schema_fault'>> {
  const worktree = worktreeOf(config);
  const check = () => testFailure({ command: command ?? null, env, cwd: config.cwd, signal });
  const { files, found } =
    worktree === null
      ? { files: [], found: await check() }
      : await savedAndChecked(worktree, `${name}, continued`, check);
  const json = parseJson(answer);
  const fault = schema && (json.ok ? argumentsFault(schema, json.value) : 'it is no JSON');
  return {
    ...{ branch: worktree?.branch ?? null, files },
    check: command === undefined ? null : (found?.why ?? 'ok'),
    schema_fault: schema === undefined ? null : (fault ?? 'ok'),
  };
}
