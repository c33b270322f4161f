import { useMemo, useRef, useState } from 'preact/hooks';
import type { z } from 'zod';
import type { treeRow } from '../../src/documents/shapes/agent-parts.ts';
import type { activity as activityShape } from '../../src/documents/shapes/server-documents.ts';
import { ago, count, dollars } from '../data/amounts.ts';
import { useApi } from '../data/api.ts';
import { useKeys } from '../data/keys.ts';
import type { PageContext } from '../parts/page.ts';
import { Sparkline } from '../parts/sparkline.tsx';
import { Standing } from '../parts/status.tsx';
import { Nothing, Trouble } from '../parts/trouble.tsx';
import { StartTree } from './start-tree.tsx';

type Tree = z.infer<typeof treeRow>;

const TREES = 500;
const REFRESH_MS = 2_000;
const ACTIVITY_MS = 5_000;
/** Groups of trees, the most urgent for a person first. */
const GROUPS = [
  ['approval', 'Waits for you'],
  ['trouble', 'Failed, or nobody leads it'],
  ['work', 'At work'],
  ['done', 'Done'],
] as const;
const TITLES: ReadonlyMap<string, string> = new Map(GROUPS);

/** All trees, grouped by need. */
export function TreesView({ writes }: PageContext) {
  const { data, error } = useApi<{ readonly trees: readonly Tree[] }>(`/v1/trees?limit=${TREES}`, REFRESH_MS);
  const [search, setSearch] = useState('');
  const found = useMemo(
    () => (data?.trees ?? []).filter((tree) => matches(tree, search.trim().toLowerCase())),
    [data, search],
  );
  const active = useApi<z.infer<typeof activityShape>>(`/v1/activity?limit=${TREES}`, ACTIVITY_MS).data;
  const activity = useMemo(
    () => new Map((active?.trees ?? []).map(({ root_id, tokens }) => [root_id, tokens])),
    [active],
  );
  const [starts, setStarts] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  useKeys([
    { key: '/', what: 'searches', act: () => field.current?.focus() },
    ...(writes ? [{ key: 'n', what: 'starts a tree', act: () => setStarts(true) }] : []),
  ]);
  return (
    <section aria-labelledby="trees">
      <div class="head">
        <h1 id="trees">Trees</h1>
        <input
          ref={field}
          type="search"
          placeholder="Search text, model:…, outcome:…"
          aria-label="Search trees"
          value={search}
          onInput={({ currentTarget }) => setSearch(currentTarget.value)}
        />
        {writes && (
          <button type="button" class="primary" title="n" onClick={() => setStarts(true)}>
            Start a tree
          </button>
        )}
      </div>
      {starts && <StartTree onClose={() => setStarts(false)} />}
      <Trouble error={error} />
      {found.length === 0 && (
        <Nothing data={data} error={error} text={search === '' ? 'No trees yet.' : 'Nothing matches.'} />
      )}
      {GROUPS.map(([need, title]) => (
        <Group
          key={need}
          title={title}
          trees={found.filter((tree) => tree.need === need)}
          activity={activity}
        />
      ))}
    </section>
  );
}

function Group({
  title,
  trees,
  activity,
}: {
  readonly title: string;
  readonly trees: readonly Tree[];
  /** Tokens over time by tree. */
  readonly activity: ReadonlyMap<string, readonly number[]>;
}) {
  if (trees.length === 0) return null;
  const now = Date.now();
  return (
    <>
      <h2>
        {title} <span class="count">{trees.length}</span>
      </h2>
      <table>
        <thead>
          <tr>
            <th scope="col">Tree</th>
            <th scope="col">Status</th>
            <th scope="col" class="number">
              Agents
            </th>
            <th scope="col" class="number">
              Tokens
            </th>
            <th scope="col" class="number">
              Cost
            </th>
            <th scope="col" class="number">
              Age
            </th>
            <th scope="col">Doing</th>
          </tr>
        </thead>
        <tbody>
          {trees.map((tree) => (
            <tr key={tree.root_id}>
              <td>
                <a href={`/trees/${tree.root_id}`} data-row>
                  {tree.title}
                </a>
              </td>
              <td>
                <Standing of={tree} />
                {tree.approvals > 0 && (
                  <span class="badge ask">
                    {tree.approvals} approval{tree.approvals === 1 ? '' : 's'}
                  </span>
                )}
              </td>
              <td class="number" data-is="agents">
                <a href={`/agents/${tree.root_id}`} title="the root agent">
                  {tree.working > 0 ? `${tree.working}/` : ''}
                  {tree.agents}
                </a>
              </td>
              <td class="number" data-is="tokens">
                <Sparkline tokens={activity.get(tree.root_id) ?? []} /> {count(tree.tokens)}
              </td>
              <td class="number" data-is="cost">
                {dollars(tree.cost_usd)}
              </td>
              <td class="number" data-is="age">
                {ago(tree.started_at, now)}
              </td>
              <td class="dim">
                {tree.asked ??
                  (tree.outcome === 'working' || tree.outcome_text === 'done'
                    ? tree.doing
                    : tree.outcome_text)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

/** Whether every word matches: `field:text` in that field, any other word in title, folder, model, id or name. */
function matches(tree: Tree, search: string): boolean {
  return search.split(/\s+/).every((word) => {
    const [, field, text = ''] = /^(\w+):(.*)$/.exec(word) ?? [];
    // The status as people read it: `failed` finds what the group of that title lists.
    if (field === 'status') return `${tree.status} ${TITLES.get(tree.need)}`.toLowerCase().includes(text);
    const value = field === undefined ? undefined : (tree as Record<string, unknown>)[field];
    if (value !== undefined) return String(value).toLowerCase().includes(text);
    return [tree.title, tree.cwd, tree.model, tree.root_id, tree.name].some((one) =>
      one.toLowerCase().includes(word),
    );
  });
}
