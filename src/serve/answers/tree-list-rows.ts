import { failureJson } from '../../documents/agent-json.ts';
import { isoTime } from '../../documents/iso-time.ts';
import type { TreeRow } from '../../documents/shapes/agent-parts.ts';
import { titlesOf } from '../../documents/tree-titles.ts';
import type { Agent } from '../../records/agent/agent.ts';
import { failureOf, isTerminal } from '../../records/agent/state.ts';
import type { Ask } from '../../records/conversation/ask.ts';
import { cutText } from '../../records/text/cut-text.ts';
import { ledStatus, statusWord } from '../../render/agent-status.ts';
import { pause } from '../cpu-meter.ts';
import { unledTrees } from '../leading/unled-reason.ts';
import type { ReadSources } from './find-one.ts';

/** Maximum characters of the excerpt; the approval holds the whole text. */
const ASKED_MAX = 200;
/** Number of rows that are made between two pauses. */
const SLICE = 20;

/** Rows of these roots, made in slices with pauses: SQLite reads are synchronous, and this process also leads agents. */
export async function rowsOf(sources: ReadSources, roots: readonly Agent[]): Promise<TreeRow[]> {
  const asks = await sources.store.asks({ open: true });
  const rows: TreeRow[] = [];
  for (let first = 0; first < roots.length; first += SLICE) {
    if (first > 0) await pause();
    rows.push(...(await sliceOf(sources, roots.slice(first, first + SLICE), asks)));
  }
  return rows;
}

/** Roots among `root_ids` that are not in `newest`. */
export async function olderRoots(
  store: ReadSources['store'],
  newest: readonly Agent[],
  root_ids: Iterable<string>,
): Promise<Agent[]> {
  const listed = new Set(newest.map(({ id }) => id));
  const older = [...new Set(root_ids)].filter((id) => !listed.has(id)).map((id) => store.agent(id));
  return (await Promise.all(older)).filter((root) => root !== null);
}

async function sliceOf(
  { store, unled }: ReadSources,
  roots: readonly Agent[],
  asks: readonly Ask[],
): Promise<TreeRow[]> {
  const [titles, trees, agents] = await Promise.all([
    titlesOf(store, roots),
    Promise.all(roots.map(({ id }) => store.tree(id))),
    Promise.all(roots.map((root) => livingOf(store, root))),
  ]);
  const unled_trees = await unledTrees(unled, store, agents.flat());
  return roots.map((root, index) => {
    const living = agents[index] ?? [];
    const counters = trees[index];
    const unled_tree = unled_trees.get(root.id) ?? null;
    const asked = asks.filter((ask) => ask.root_id === root.id);
    const words = living.map(statusWord);
    return {
      root_id: root.id,
      name: root.name,
      title: titles.get(root.id) ?? root.name,
      status: ledStatus(root, unled_tree !== null),
      need: needOf(root, words, asked.length, unled_tree !== null),
      origin: root.origin,
      model: root.config.model,
      profile: root.config.profile ?? null,
      cwd: root.config.cwd,
      doing: root.doing,
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
      updated_at: isoTime(Math.max(root.updated_at, ...living.map(({ updated_at }) => updated_at))),
      ended_at: isoTime(root.ended_at),
    };
  });
}

/** Such as `grep-all: bash rm -rf dist`. */
function askedText({ agent_id, root_id, agent_name, tool, subject }: Ask): string {
  const who = agent_id === root_id ? '' : `${agent_name}: `;
  return cutText(`${who}${tool} ${subject}`, ASKED_MAX);
}

/** Living agents of the root's tree; none are looked up if the root has ended, because no agent outlives it. */
async function livingOf(store: ReadSources['store'], root: Agent): Promise<Agent[]> {
  return isTerminal(root.state.type) ? [] : store.agents({ root_id: root.id, living: true });
}

/** Group of the list that a tree belongs to, the most urgent for a person first. */
function needOf(root: Agent, words: readonly string[], asks: number, unled: boolean): TreeRow['need'] {
  if (asks > 0) return 'approval';
  if (unled || failureOf(root.state) !== null || words.includes('error')) return 'trouble';
  if (words.some((word) => word === 'running' || word === 'waiting' || word === 'queued')) return 'work';
  return 'done';
}
