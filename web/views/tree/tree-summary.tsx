import { useState } from 'preact/hooks';
import type { DocumentOf } from '../../../src/documents/shapes/all-documents.ts';
import { restsCut } from '../../../src/records/run/outcome.ts';
import { count, dollars } from '../../data/amounts.ts';
import { useApi } from '../../data/api.ts';
import { EXPORTED } from '../../data/exported.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { FoldButton, useFold } from '../../parts/fold-button.tsx';
import { Fact } from '../../parts/heads.tsx';
import { Markdown, PlainText } from '../../parts/markdown.tsx';
import type { PageContext } from '../../parts/page.ts';
import { Seldom } from '../../parts/seldom.tsx';
import { Standing } from '../../parts/status.tsx';
import { When } from '../../parts/when.tsx';
import type { Messages } from '../agent/agent.tsx';
import { TreeActions } from './tree-actions.tsx';

type Tree = DocumentOf<'coppice/tree/v1'>;
type Cuts = DocumentOf<'coppice/trees/v1'>;
type Agent = Tree['agents'][number];

const REFRESH_MS = 3_000;
const FOLDED_LETTERS = 600;
const FAILED_SHOWN = 5;
const CUTS_SHOWN = 20;
const CUTS_AT_FIRST = 3;

interface SummaryProps {
  readonly root_id: string;
  readonly context: PageContext;
  /** Whether its root is a workflow run, which has actions of its own. */
  readonly is_run: boolean;
  /** The run that this one repeats, if the link names it. */
  readonly like: string | null;
}

/** What a person wants to know of a tree first: what it was asked, what came of it or why not, and what can be done about it. */
export function TreeSummary({ root_id, context, is_run, like }: SummaryProps) {
  const tree = useApi<Tree>(`/v1/trees/${root_id}`, EXPORTED === null ? REFRESH_MS : 0);
  const begun = useApi<Messages>(`/v1/agents/${root_id}/messages?limit=1`);
  const cuts = useApi<Cuts>(
    EXPORTED === null ? `/v1/trees?cut_of=${root_id}&limit=${CUTS_SHOWN}` : null,
    REFRESH_MS,
  );
  // All at once: what comes later would move what is below.
  const whole = EXPORTED !== null || cuts.data !== null || cuts.error !== null;
  if (tree.data === null || !whole) return null;
  const root = tree.data.agents.find(({ id }) => id === root_id);
  if (root === undefined) return null;
  const [first] = begun.data?.messages ?? [];
  const task = first?.kind === 'user' ? first.content.text : tree.data.title;
  const answer = root.last_reply !== null && root.last_reply !== '' && (
    <Folded
      title={root.status === 'idle' || root.ended_at !== null ? 'Answer' : 'Last answer'}
      text={root.last_reply}
      markdown
    />
  );
  const compares = is_run && root.name === 'what-if';
  return (
    <section class="tree-summary" aria-label="What came of it">
      <dl class="facts dim">
        <Fact name="Model">{root.model}</Fact>
        <Fact name="Folder">
          <code>{tree.data.cwd}</code>
        </Fact>
        {root.worktree !== null && <Fact name="Branch">{root.worktree.branch}</Fact>}
        {root.profile !== null && <Fact name="Profile">{root.profile}</Fact>}
        <Fact name="Started">
          <When at={root.started_at} since />
          {root.origin === 'cron' ? ' by a schedule' : ''}
        </Fact>
        <Fact name="Left">{leftText(tree.data)}</Fact>
      </dl>
      {tree.data.tree.cut !== undefined && <CutFrom tree={tree.data} />}
      <CutInto root_id={root_id} cuts={cuts.data?.trees ?? []} />
      {EXPORTED === null && (
        <TreeActions
          tree={tree.data}
          root={root}
          changes={context.writes && !is_run}
          like={like}
          onDone={tree.reload}
        />
      )}
      {task.trim() !== tree.data.title && !compares && <Folded title="Task" text={task} markdown={false} />}
      <Failures agents={tree.data.agents} root={root} />
      {compares && answer ? (
        <Seldom part="what-if-results" id={root_id} writes={context.writes}>
          {answer}
        </Seldom>
      ) : (
        answer
      )}
    </section>
  );
}

/** The tree that this one was cut from, and where. */
function CutFrom({ tree: { tree, root_id, outcome, outcome_text } }: { readonly tree: Tree }) {
  const { of = '', at = 0, agent_id, seq } = tree.cut ?? {};
  const { data } = useApi<Tree>(`/v1/trees/${of}`);
  return (
    <p class="facts">
      <span>
        It is as <a href={`/trees/${of}`}>{data?.title ?? of.slice(0, 8)}</a> was{' '}
        {seq === undefined ? (
          <When at={at} since />
        ) : (
          <a href={`/agents/${agent_id}?seq=${seq || 1}`}>
            {seq === 0 ? 'before its first message' : `at message ${seq}`}
          </a>
        )}
        .{restsCut({ outcome, outcome_text }) && ' It rests until it is resumed, or somebody writes to it.'}
      </span>
      <a href={`/compare?a=${of}&b=${root_id}`}>Compare the two</a>
    </p>
  );
}

/** The trees that were cut from this one, newest first. */
function CutInto({ root_id, cuts }: { readonly root_id: string; readonly cuts: Cuts['trees'] }) {
  const { until, button } = useFold(cuts.length, CUTS_AT_FIRST, 'trees');
  if (cuts.length === 0) return null;
  return (
    <ul class="facts" aria-label="Trees that were made from this one">
      {cuts.slice(0, until).map((cut) => (
        <li key={cut.root_id}>
          <span class="dim">From here:</span> <a href={`/trees/${cut.root_id}`}>{cut.title}</a>{' '}
          <Standing of={cut} /> <span class="dim">{cut.model}</span> <When at={cut.started_at} since />{' '}
          <a href={`/compare?a=${root_id}&b=${cut.root_id}`}>Compare</a>
        </li>
      ))}
      {button && <li>{button}</li>}
    </ul>
  );
}

function leftText({ tree: { limits, tokens, cached = 0, cost_usd } }: Tree): string {
  const left = [
    limits.cost_usd === null ? '' : dollars(Math.max(0, limits.cost_usd - cost_usd)),
    limits.tokens === null ? '' : `${count(Math.max(0, limits.tokens - tokens + cached))} tokens`,
  ].filter((one) => one !== '');
  return left.length === 0 ? 'no limit' : left.join(', ');
}

interface FoldedProps {
  readonly title: string;
  readonly text: string;
  readonly markdown: boolean;
}

/** A text of which a long one is folded, with a button that copies it. */
function Folded({ title, text, markdown }: FoldedProps) {
  const [whole, setWhole] = useState(false);
  const folds = text.length > FOLDED_LETTERS || text.split('\n').length > 12;
  return (
    <article class="told" aria-label={title}>
      <header>
        <h2>{title}</h2>
        <CopyButton text={text} what={title.toLowerCase()} />
      </header>
      <div class={folds && !whole ? 'cut' : undefined}>
        {markdown ? <Markdown text={text} /> : <PlainText text={text} />}
      </div>
      {folds && <FoldButton open={whole} onToggle={setWhole} more="Show all" />}
    </article>
  );
}

/** Which agents failed, the first one first, and why; those that a person ended have not failed. Why the root alone failed stands in the head. */
function Failures({ agents, root }: { readonly agents: readonly Agent[]; readonly root: Agent }) {
  const failed = agents
    .filter(({ error, outcome }) => error !== null && error.kind !== 'killed' && outcome !== 'stopped')
    .sort(
      (a, b) =>
        Number(b.id === root.id) - Number(a.id === root.id) || a.updated_at.localeCompare(b.updated_at),
    );
  if (failed.every(({ id }) => id === root.id)) return null;
  return (
    <article class="told failed" aria-label="What failed">
      <h2>{failed.length === 1 ? 'Failed' : `${failed.length} of ${agents.length} agents failed`}</h2>
      <ul>
        {failed.slice(0, FAILED_SHOWN).map(({ id, name, error }) => (
          <li key={id}>
            <a href={`/agents/${id}`}>{name}</a>: {error?.message}
            {error?.retryable === true && <span class="dim"> It may succeed if it is tried again.</span>}
          </li>
        ))}
        {failed.length > FAILED_SHOWN && (
          <li class="dim">and {failed.length - FAILED_SHOWN} more, in the tab Tree</li>
        )}
      </ul>
    </article>
  );
}
