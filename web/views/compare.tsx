import type { ComponentChildren } from 'preact';
import type { DocumentOf } from '../../src/documents/shapes/all-documents.ts';
import { nameOf } from '../../src/records/run/outcome.ts';
import { count, dollars, duration } from '../data/amounts.ts';
import { useApi } from '../data/api.ts';
import { Heads } from '../parts/heads.tsx';
import { Markdown } from '../parts/markdown.tsx';
import type { PageContext } from '../parts/page.ts';
import { Trouble } from '../parts/trouble.tsx';
import { When } from '../parts/when.tsx';
import { BlamedDiff } from './tree/blamed-diff.tsx';
import { type ChangedFile, FileArticle } from './tree/files.tsx';

type Difference = DocumentOf<'coppice/diff/v1'>;
type Pair = Difference['agents'][number];
type Side = NonNullable<Pair['a']>;
type Tree = DocumentOf<'coppice/tree/v1'>;

const SIDES = ['a', 'b'] as const;
const WORDS = { a: 'First run', b: 'Second run' };
const NUMBERS = ['Calls', 'Files', 'Tokens', 'Cost', 'Time'];
const CALLS_SHOWN = 30;
const FILES_SHOWN = 100;

/** Two runs side by side: in numbers, where they first differ, and agent by agent. */
export function CompareView({ route }: PageContext) {
  const [a, b] = SIDES.map((side) => route.query.get(side) ?? '').map(encodeURIComponent);
  const asked = a !== '' && b !== '';
  const { data, error } = useApi<Difference>(asked ? `/v1/agents/${a}/diff?with=${b}` : null);
  const left = useApi<Tree>(data === null ? null : `/v1/trees/${data.a}`).data;
  const right = useApi<Tree>(data === null ? null : `/v1/trees/${data.b}`).data;
  const first = data?.first ?? null;
  const path = route.query.get('agent') ?? first?.path;
  const chosen = data?.agents.find((pair) => pair.path === path) ?? data?.agents[0];
  return (
    <section aria-labelledby="compare" class="compare">
      <div class="head">
        <h1 id="compare">Compare</h1>
        {asked && <a href={`/compare?a=${b}&b=${a}`}>Swap</a>}
      </div>
      <Trouble error={error} />
      {!asked && (
        <p class="empty">
          Choose two runs in the <a href="/trees">list of trees</a>, by their boxes or with the key c.
        </p>
      )}
      {asked && data === null && error === null && <p class="empty">Comparing…</p>}
      {data !== null && (
        <>
          {left !== null && right !== null && <Totals trees={{ a: left, b: right }} agents={data.agents} />}
          <First data={data} />
          <Agents
            agents={data.agents}
            chosen={chosen}
            hrefOf={(agent) => `/compare?a=${a}&b=${b}&agent=${encodeURIComponent(agent)}`}
          />
          {chosen !== undefined && <PairView pair={chosen} trees={data} />}
        </>
      )}
    </section>
  );
}

interface TotalsProps {
  readonly trees: Readonly<Record<'a' | 'b', Tree>>;
  readonly agents: readonly Pair[];
}

function Totals({ trees, agents }: TotalsProps) {
  const text = (title: string, of: (tree: Tree) => ComponentChildren) =>
    [title, of(trees.a), of(trees.b), ''] as const;
  const amount = (title: string, of: (side: Side) => number, shown: (value: number) => string) => {
    const [from = 0, to = 0] = SIDES.map((key) =>
      agents.reduce((sum, { [key]: side }) => sum + (side === null ? 0 : of(side)), 0),
    );
    return [title, shown(from), shown(to), change(from, to, shown)] as const;
  };
  const lasted = SIDES.map((key) => agents[0]?.[key]?.duration_ms ?? 0);
  const [from = 0, to = 0] = lasted;
  const rows = [
    text('Began', ({ agents: [oldest] }) => oldest !== undefined && <When at={oldest.started_at} />),
    text('Model', ({ agents: [oldest] }) => oldest?.model),
    text('Outcome', ({ outcome_text }) => outcome_text),
    ['Time', duration(from), duration(to), change(from, to, duration)] as const,
    amount('Agents', () => 1, String),
    amount('Calls', ({ calls }) => calls.length, count),
    amount('Files', ({ files }) => files.length, String),
    amount('Tokens', ({ tokens }) => tokens, count),
    amount(
      'Cost',
      ({ cost_usd }) => cost_usd ?? 0,
      (value) => dollars(value) || '–',
    ),
  ];
  return (
    <section class="wide" aria-label="The runs">
      <table class="as-table runs">
        <thead>
          <tr>
            <th scope="col">Run</th>
            {SIDES.map((key) => (
              <th key={key} scope="col">
                <a href={`/trees/${trees[key].root_id}`}>{trees[key].title}</a>
              </th>
            ))}
            <th scope="col">Difference</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([title, one, other, differs]) => (
            <tr key={title}>
              <th scope="row">{title}</th>
              <td>{one}</td>
              <td>{other}</td>
              <td class="dim number">{differs}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** `+1.2k (+40 %)`; nothing if they read the same. */
function change(from: number, to: number, shown: (value: number) => string): string {
  if (shown(from) === shown(to)) return '';
  const sign = to > from ? '+' : '−';
  const share = from === 0 ? '' : ` (${sign}${Math.round((100 * Math.abs(to - from)) / from)} %)`;
  return `${sign}${shown(Math.abs(to - from))}${share}`;
}

function First({ data: { first, agents } }: { readonly data: Difference }) {
  if (first === null) return <p>Nothing differs but ids, times, costs and folders.</p>;
  const pair = agents.find(({ path }) => path === first.path);
  const seqs = { a: first.a_seq, b: first.b_seq };
  return (
    <article class="changed-file" aria-label="First difference">
      <header>
        <h2>
          First difference: {first.what} of {first.path}
        </h2>
        {SIDES.map((key) =>
          pair?.[key] == null || seqs[key] === null ? null : (
            <a key={key} href={`/agents/${pair[key].agent_id}?seq=${seqs[key]}`}>
              {WORDS[key]} #{seqs[key]}
            </a>
          ),
        )}
      </header>
      {first.diff === null ? (
        <p class="dim">It is too large to be shown here.</p>
      ) : (
        <BlamedDiff text={first.diff} />
      )}
    </article>
  );
}

interface AgentsProps {
  readonly agents: readonly Pair[];
  readonly chosen: Pair | undefined;
  readonly hrefOf: (path: string) => string;
}

function Agents({ agents, chosen, hrefOf }: AgentsProps) {
  const cell = ({ a, b }: Pair, of: (side: Side) => string) => {
    const [one, other] = [a === null ? '–' : of(a), b === null ? '–' : of(b)];
    return one === other ? one : `${one} → ${other}`;
  };
  return (
    <section class="wide" aria-label="Agents">
      <table class="as-table">
        <Heads names={['Agent', 'Differs in', 'Outcome', ...NUMBERS]} numbers={NUMBERS} />
        <tbody>
          {agents.map((pair) => (
            <tr key={pair.path} class={pair === chosen ? 'chosen' : undefined}>
              <td>
                <a data-row href={hrefOf(pair.path)} aria-current={pair === chosen ? 'true' : undefined}>
                  {pair.path}
                </a>
              </td>
              <td class={pair.differs.length === 0 ? 'dim' : undefined}>
                {pair.a === null
                  ? 'only the second has it'
                  : pair.b === null
                    ? 'only the first has it'
                    : pair.differs.join(', ') || 'nothing'}
              </td>
              <td>{cell(pair, ({ outcome }) => nameOf(outcome))}</td>
              <td class="number">{cell(pair, ({ calls }) => count(calls.length))}</td>
              <td class="number">{cell(pair, ({ files }) => count(files.length))}</td>
              <td class="number">{cell(pair, ({ tokens }) => count(tokens))}</td>
              <td class="number">{cell(pair, ({ cost_usd }) => dollars(cost_usd) || '–')}</td>
              <td class="number">{cell(pair, ({ duration_ms }) => duration(duration_ms))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** The answers, calls and files of an agent of both runs. */
function PairView({ pair, trees }: { readonly pair: Pair; readonly trees: Pick<Difference, 'a' | 'b'> }) {
  const files = { a: useFiles(trees.a, pair.a), b: useFiles(trees.b, pair.b) };
  return (
    <section aria-labelledby="pair">
      <h2 id="pair">{pair.path}</h2>
      <div class="beside">
        {SIDES.map((key) => {
          const side = pair[key];
          return (
            <article key={key} class="told" aria-label={`${WORDS[key]}, ${pair.path}`}>
              <header>
                <h3>{side === null ? WORDS[key] : <a href={`/agents/${side.agent_id}`}>{WORDS[key]}</a>}</h3>
              </header>
              {side === null ? (
                <p class="dim">This run has no such agent.</p>
              ) : (
                <>
                  <Markdown text={side.answer ?? '(no answer)'} />
                  <p class="dim">
                    Calls: {side.calls.slice(0, CALLS_SHOWN).join(', ') || 'none'}
                    {side.calls.length > CALLS_SHOWN && ` and ${side.calls.length - CALLS_SHOWN} more`}
                  </p>
                  {files[key].map((file) => (
                    <FileArticle key={file.path} file={file} only={side.agent_id} />
                  ))}
                </>
              )}
            </article>
          );
        })}
      </div>
    </section>
  );
}

/** The files that an agent changed, with what it changed. */
function useFiles(root_id: string, side: Side | null): readonly ChangedFile[] {
  const { data } = useApi<DocumentOf<'coppice/files/v1'>>(
    (side?.files.length ?? 0) === 0 ? null : `/v1/trees/${root_id}/files?limit=${FILES_SHOWN}`,
  );
  return (data?.files ?? []).filter(({ changes }) =>
    changes.some(({ agent_id }) => agent_id === side?.agent_id),
  );
}
