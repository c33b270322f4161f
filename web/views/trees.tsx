import { useMemo, useRef, useState } from 'preact/hooks';
import type { DocumentOf } from '../../src/documents/shapes/all-documents.ts';
import { restsCut } from '../../src/records/run/outcome.ts';
import { count, dollars } from '../data/amounts.ts';
import { useApi } from '../data/api.ts';
import { useKeys } from '../data/keys.ts';
import { go } from '../data/route.ts';
import { Button } from '../parts/button.tsx';
import { Amount, Heads } from '../parts/heads.tsx';
import { Older, useOlder } from '../parts/older.tsx';
import type { PageContext } from '../parts/page.ts';
import { Sparkline } from '../parts/sparkline.tsx';
import { Status } from '../parts/status.tsx';
import { Nothing, Trouble } from '../parts/trouble.tsx';
import { When } from '../parts/when.tsx';
import { GROUPS, groupOf, matches, type Tree } from './search-trees.ts';
import { StartTree } from './start-tree.tsx';

type Trees = DocumentOf<'coppice/trees/v1'>;

const NUMBERS = ['Agents', 'Tokens', 'Cost', 'Started'];
const TREES = 500;
const REFRESH_MS = 2_000;
const ACTIVITY_MS = 5_000;

/** All trees in one table, grouped by need; the chosen group stands in the address. */
export function TreesView({ writes, route }: PageContext) {
  const { data, error } = useApi<Trees>(`/v1/trees?limit=${TREES}&asking=true`, REFRESH_MS);
  const older = useOlder<Trees, Tree>(
    data?.trees ?? [],
    ({ started_at, root_id }) =>
      `/v1/trees?limit=${TREES}&before=${encodeURIComponent(`${started_at},${root_id}`)}`,
    ({ trees }) => trees,
    TREES,
  );
  const [search, setSearch] = useState('');
  const all = useMemo(() => {
    const known = new Set(data?.trees.map(({ root_id }) => root_id));
    const trees = [...(data?.trees ?? []), ...older.rows.filter(({ root_id }) => !known.has(root_id))];
    return trees.filter((tree) => matches(tree, search));
  }, [data, older.rows, search]);
  const shown = GROUPS.find(({ key }) => key === route.query.get('show'))?.key ?? 'all';
  const groups = GROUPS.map((group) => ({
    ...group,
    trees: all.filter((tree) => groupOf(tree).key === group.key),
  }));
  const active = useApi<DocumentOf<'coppice/activity/v1'>>(`/v1/activity?limit=${TREES}`, ACTIVITY_MS).data;
  const activity = useMemo(
    () => new Map((active?.trees ?? []).map(({ root_id, tokens }) => [root_id, tokens])),
    [active],
  );
  const [compared, setCompared] = useState<readonly string[]>([]);
  const choose = (id: string) =>
    setCompared(compared.includes(id) ? compared.filter((one) => one !== id) : [...compared, id].slice(-2));
  const [starts, setStarts] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const within = `/search?q=${encodeURIComponent(search.trim())}`;
  useKeys([
    { key: '/', what: 'searches', act: () => field.current?.focus() },
    { key: 'c', what: 'chooses the row for a comparison', act: chooseRow },
    ...(writes ? [{ key: 'n', what: 'starts a tree', act: () => setStarts(true) }] : []),
  ]);
  const visible = groups.filter(({ key, trees }) => trees.length > 0 && (shown === 'all' || key === shown));
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
          onKeyDown={({ key }) => {
            if (key === 'Enter' && search.trim() !== '') go(within);
          }}
        />
        {search.trim() !== '' && (
          <a href={within} title="Enter">
            In conversations
          </a>
        )}
        {writes && <Button does="Start a tree" class="primary" title="n" onClick={() => setStarts(true)} />}
      </div>
      <nav class="chips" aria-label="Outcome">
        {[{ key: 'all', title: 'All', trees: all }, ...groups].map(({ key, title, trees }) => (
          <a
            key={key}
            class={`chip ${key}`}
            href={key === 'all' ? '/trees' : `/trees?show=${key}`}
            aria-current={key === shown ? 'true' : undefined}
          >
            {title} <span class="count">{trees.length}</span>
          </a>
        ))}
      </nav>
      {compared.length > 0 && (
        <p role="status">
          {compared.length === 1 ? (
            'Choose another run to compare it with.'
          ) : (
            <a class="chip" href={`/compare?a=${compared[0]}&b=${compared[1]}`}>
              Compare the two
            </a>
          )}
        </p>
      )}
      {starts && <StartTree like={data?.trees ?? []} onClose={() => setStarts(false)} />}
      <Trouble error={error} />
      {visible.length === 0 && (
        <Nothing
          data={data}
          error={error}
          text={data?.trees.length === 0 ? 'No trees yet.' : 'Nothing matches.'}
        >
          {data?.trees.length === 0 && writes && (
            <Button does="Start the first one" class="primary" onClick={() => setStarts(true)} />
          )}
        </Nothing>
      )}
      {visible.length > 0 && (
        <table class="trees">
          <Heads names={['Tree', 'Outcome', ...NUMBERS]} numbers={NUMBERS} />
          {visible.map(({ key, title, trees }) => (
            <Group
              key={key}
              title={title}
              trees={trees}
              activity={activity}
              compared={compared}
              onCompare={choose}
            />
          ))}
        </table>
      )}
      <Older of={older} does="Show older trees" />
    </section>
  );
}

interface GroupProps {
  readonly title: string;
  readonly trees: readonly Tree[];
  /** Tokens over time by tree. */
  readonly activity: ReadonlyMap<string, readonly number[]>;
  /** Roots of the runs that were chosen for a comparison. */
  readonly compared: readonly string[];
  readonly onCompare: (root_id: string) => void;
}

/** Ticks the box of the row that has the focus. */
function chooseRow(): void {
  document.activeElement?.closest('tr')?.querySelector<HTMLElement>('input[type="checkbox"]')?.click();
}

function Group({ title, trees, activity, compared, onCompare }: GroupProps) {
  return (
    <tbody>
      <tr>
        <th scope="rowgroup" class="group-head" colSpan={6}>
          <h2>
            {title} <span class="count">{trees.length}</span>
          </h2>
        </th>
      </tr>
      {trees.map((tree) => (
        <tr key={tree.root_id}>
          <td class="task">
            <input
              type="checkbox"
              class="compared"
              aria-label={`Compare ${tree.title}`}
              title="Compare with another run (c)"
              checked={compared.includes(tree.root_id)}
              onChange={() => onCompare(tree.root_id)}
            />
            <a href={`/trees/${tree.root_id}`} data-row>
              {tree.title}
            </a>
            <p class="dim">
              {tree.name === 'main' ? '' : `${tree.name} · `}
              {tree.model} · {tree.cwd}
            </p>
            <p class={groupOf(tree).key === 'failed' || FAILED.test(tree.outcome_text) ? 'bad' : 'dim'}>
              {lineOf(tree)}
            </p>
          </td>
          <td>
            <Status
              word={restsCut(tree) ? 'rests' : tree.outcome === 'working' ? tree.status : tree.outcome}
            />
            {tree.approvals > 0 && (
              <span class="badge ask">
                {tree.approvals} approval{tree.approvals === 1 ? '' : 's'}
              </span>
            )}
          </td>
          <Amount is="agents">
            <a href={`/agents/${tree.root_id}`} title="the root agent">
              {tree.working > 0 ? `${tree.working}/` : ''}
              {tree.agents}
            </a>
          </Amount>
          <Amount is="tokens">
            <Sparkline tokens={activity.get(tree.root_id) ?? []} /> {count(tree.tokens)}
          </Amount>
          <Amount is="cost">{dollars(tree.cost_usd)}</Amount>
          <Amount is="started">
            <When at={tree.started_at} since />
          </Amount>
        </tr>
      ))}
    </tbody>
  );
}

/** An outcome that is done, although agents failed. */
const FAILED = /^done, \d+ of \d+ failed/;

/** What a tree does now, what it asks, or how it ended where that says more than the group. */
function lineOf(tree: Tree): string | null {
  if (tree.asked !== null) return tree.asked;
  if (restsCut(tree)) return 'rests until it is resumed, or somebody writes to it';
  return tree.outcome === 'working' || tree.outcome_text === 'done' ? tree.doing : tree.outcome_text;
}
