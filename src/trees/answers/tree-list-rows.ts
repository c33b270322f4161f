import { failureJson, ledDoing } from '../../documents/agent-json.ts';
import { isoTime } from '../../documents/iso-time.ts';
import type { TreeRow } from '../../documents/shapes/agent-parts.ts';
import { titlesOf } from '../../documents/tree-titles.ts';
import type { Agent } from '../../records/agent/agent.ts';
import { isTerminal } from '../../records/agent/state.ts';
import type { Ask } from '../../records/conversation/ask.ts';
import { type Outcome, outcomeOfTree, restsCut } from '../../records/run/outcome.ts';
import { cutText } from '../../records/text/cut-text.ts';
import { ledStatus, statusWord } from '../../render/agent-status.ts';
import { pause } from '../cpu-meter.ts';
import type { ReadSources } from '../find-agent.ts';
import { unledTrees } from '../leaders/unled-reason.ts';

/** Maximum characters of the excerpt; the approval holds the whole text. */
const ASKED_MAX = 200;
/** Maximum trees that are listed beside the newest because they wait for an approval, those that have waited longest. */
const OLDER_MAX = 500;
/** Number of rows that are made between two pauses. */
const SLICE = 20;

/** Rows of these roots, made in slices with pauses: SQLite reads are synchronous, and this process also leads agents. */
export async function rowsOf(sources: ReadSources, roots: readonly Agent[]): Promise<TreeRow[]> {
  const asks = await sources.store.asks({ root_ids: roots.map(({ id }) => id), open: true });
  const rows: TreeRow[] = [];
  for (let first = 0; first < roots.length; first += SLICE) {
    if (first > 0) await pause();
    rows.push(...(await sliceOf(sources, roots.slice(first, first + SLICE), asks)));
  }
  return rows;
}

/** Roots among `root_ids` that are not in `newest`, up to `OLDER_MAX`. */
export async function olderRoots(
  store: ReadSources['store'],
  newest: readonly Agent[],
  root_ids: Iterable<string>,
): Promise<Agent[]> {
  const listed = new Set(newest.map(({ id }) => id));
  const older = [...new Set(root_ids)].filter((id) => !listed.has(id)).slice(0, OLDER_MAX);
  return (await Promise.all(older.map((id) => store.agent(id)))).filter((root) => root !== null);
}

async function sliceOf(
  { store, unled }: ReadSources,
  roots: readonly Agent[],
  asks: readonly Ask[],
): Promise<TreeRow[]> {
  const ids = roots.map(({ id }) => id);
  const [titles, changed_at, unled_trees, trees, agents] = await Promise.all([
    titlesOf(store, roots),
    store.changedAt(ids),
    unledTrees(unled, store, roots),
    Promise.all(roots.map(({ id }) => store.tree(id))),
    Promise.all(roots.map(({ id }) => store.agents({ root_id: id, unsettled: true }))),
  ]);
  return roots.map((root, index) => {
    const unsettled = agents[index] ?? [];
    const living = unsettled.filter(({ state }) => !isTerminal(state.type));
    const counters = trees[index];
    const unled_tree = unled_trees.get(root.id) ?? null;
    const known = unsettled.some(({ id }) => id === root.id) ? unsettled : [root, ...unsettled];
    const outcome = outcomeOfTree(root.id, known, counters?.total, unled_tree?.why);
    const asked = asks.filter((ask) => ask.root_id === root.id);
    const words = living.map(statusWord);
    return {
      root_id: root.id,
      name: root.name,
      title: titles.get(root.id) ?? root.name,
      status: ledStatus(root, unled_tree !== null),
      need: restsCut(outcome) ? 'done' : needOf(outcome),
      ...outcome,
      origin: root.origin,
      model: root.config.model,
      profile: root.config.profile ?? null,
      cwd: root.config.cwd,
      doing: ledDoing(root, unled_tree === null),
      agents: counters?.total ?? 1,
      living: counters?.live ?? living.length,
      working: words.filter((word) => word === 'running' || word === 'waiting').length,
      approvals: asked.length,
      asked_at: asked.length === 0 ? null : isoTime(Math.min(...asked.map(({ asked_at }) => asked_at))),
      asked: asked[0] === undefined ? null : askedText(asked[0]),
      tokens: counters?.tokens ?? 0,
      cost_usd: counters?.cost_usd ?? 0,
      error: failureJson(root),
      unled: unled_tree,
      started_at: isoTime(root.created_at),
      updated_at: isoTime(Math.max(root.updated_at, changed_at.get(root.id) ?? 0)),
      ended_at: isoTime(root.ended_at),
    };
  });
}

/** Such as `grep-all: bash rm -rf dist`. */
function askedText({ agent_id, root_id, agent_name, tool, subject }: Ask): string {
  const who = agent_id === root_id ? '' : `${agent_name}: `;
  return cutText(`${who}${tool} ${subject}`, ASKED_MAX);
}

/** Group of the list that a tree belongs to, the most urgent for a person first. */
function needOf({ outcome, outcome_text }: Outcome): TreeRow['need'] {
  if (outcome === 'waiting_for_you') return 'approval';
  if (outcome === 'working' || outcome === 'waiting') return 'work';
  // Of some trees that are done, agents failed.
  return outcome === 'stopped' || outcome_text === 'done' ? 'done' : 'trouble';
}
