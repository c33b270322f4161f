import { useState } from 'preact/hooks';
import type { DocumentOf } from '../../src/documents/shapes/all-documents.ts';
import { count, dollars } from '../data/amounts.ts';
import { useApi } from '../data/api.ts';
import type { Route } from '../data/route.ts';
import { DayChart } from '../parts/day-chart.tsx';
import { Heads } from '../parts/heads.tsx';
import { Trouble } from '../parts/trouble.tsx';

type Usage = DocumentOf<'coppice/usage/v1'>;
type Used = Usage['total'];

const REFRESH_MS = 10_000;
const NUMBERS = ['Requests', 'In', 'Cached', 'Out', 'Cost'];
const AMOUNTS = ['requests', 'input', 'cached', 'output'] as const;
const SPANS = [7, 30, 90, 365];

/** Usage of model requests, by day, model, profile and tree. */
export function UsageView({ route }: { readonly route: Route }) {
  const days = Number(route.query.get('days') ?? 30);
  const { data, error } = useApi<Usage>(`/v1/usage?days=${days}`, REFRESH_MS);
  const [day, setDay] = useState<string | null>(null);
  return (
    <section aria-labelledby="usage">
      <div class="head">
        <h1 id="usage">Usage</h1>
        <nav aria-label="Days" class="spans">
          {SPANS.map((span) => (
            <a key={span} href={`/usage?days=${span}`} aria-current={span === days ? 'true' : undefined}>
              {span} days
            </a>
          ))}
        </nav>
      </div>
      <Trouble error={error} />
      {data !== null && (
        <>
          {!data.complete && (
            <p class="hint" role="status">
              The server is still reading history; the totals are incomplete.
            </p>
          )}
          <p>
            {count(data.total.requests)} requests, {count(data.total.input)} tokens in (
            {count(data.total.cached)} cached), {count(data.total.output)} out{' '}
            {data.total.cost_usd === null ? '' : `for ${dollars(data.total.cost_usd) || '$0'}`}
          </p>
          <div class="beside">
            <DayChart days={data.by_day} selected={day} onSelect={setDay} />
            <section
              class="scroll"
              aria-label="Days as a table"
              // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be scrolled by keys
              tabIndex={0}
            >
              <Sums
                title="Day (UTC)"
                rows={data.by_day
                  .filter(({ requests }) => requests > 0)
                  .toReversed()
                  .map((used) => ({ key: used.day, name: used.day, used, selected: used.day === day }))}
              />
            </section>
          </div>
          <h2>By model</h2>
          <Sums
            title="Model"
            rows={data.by_model.map((used) => ({ key: used.model, name: used.model, used }))}
          />
          <h2>By profile</h2>
          <Sums
            title="Profile"
            rows={data.by_profile.map((used) => ({
              key: used.profile ?? '',
              name: used.profile ?? 'without a profile',
              used,
            }))}
          />
          <h2>By tree</h2>
          <Sums
            title="Tree"
            rows={data.by_tree.map((used) => ({
              key: used.root_id,
              name: used.title ?? `${used.root_id.slice(0, 8)}, removed`,
              ...(used.title === null ? {} : { href: `/trees/${used.root_id}` }),
              used,
            }))}
          />
        </>
      )}
    </section>
  );
}

interface SumRow {
  readonly key: string;
  readonly name: string;
  readonly href?: string;
  readonly used: Used;
  readonly selected?: boolean;
}

function Sums({ title, rows }: { readonly title: string; readonly rows: readonly SumRow[] }) {
  if (rows.length === 0) return <p class="empty">No model requests in these days.</p>;
  return (
    <table>
      <Heads names={[title, ...NUMBERS]} numbers={NUMBERS} />
      <tbody>
        {rows.map(({ key, name, href, used, selected }) => (
          <tr key={key} aria-current={selected === true ? 'true' : undefined}>
            <td>{href === undefined ? name : <a href={href}>{name}</a>}</td>
            {NUMBERS.map((what, at) => (
              <td key={what} class="number" data-is={what.toLowerCase()}>
                {[...AMOUNTS.map((field) => count(used[field])), dollars(used.cost_usd)][at]}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
