import { Component } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { nameOf, shownWord } from '../../../../src/records/run/outcome.ts';
import { counted } from '../../../../src/records/text/text.ts';
import { count, dollars } from '../../../data/amounts.ts';
import { useKeys } from '../../../data/keys.ts';
import { go } from '../../../data/route.ts';
import { plainWords } from '../../../data/texts.ts';
import { Markdown } from '../../../parts/markdown.tsx';
import type { PageContext } from '../../../parts/page.ts';
import { Standing, StatusSign } from '../../../parts/status.tsx';
import { Trouble } from '../../../parts/trouble.tsx';
import { Composer } from '../../agent/composer.tsx';
import { Approval } from '../../approvals.tsx';
import { CELL_MS, CELLS, type LiveRow } from './live-rows.ts';
import type { TailLine } from './tail.ts';
import { useLiveTree } from './use-live-tree.ts';

/** The cockpit of a tree: all agents at the left, what the chosen one says and does right now at the right. */
export function Cockpit({ route, writes, approvals }: PageContext) {
  const [, tree = ''] = route.path;
  const [first, setFirst] = useState<string | null>(null);
  const chosen = route.query.get('agent') ?? first;
  const { title, rows, tail, error } = useLiveTree(tree, chosen);
  const row = rows.find(({ agent }) => agent.id === chosen);
  useEffect(() => {
    if (chosen === null && rows[0] !== undefined) setFirst(rows[0].agent.id);
  }, [chosen, rows]);
  useKeys([
    { key: 'u', what: 'its tree', act: () => go(`/trees/${tree}`) },
    { key: 'o', what: 'opens the agent', act: () => chosen !== null && go(`/agents/${chosen}`) },
  ]);
  const counts = useMemo(() => [...Map.groupBy(rows, wordOf)], [rows]);
  const asked = (approvals.data ?? []).filter(({ agent_id }) => agent_id === chosen);
  return (
    <section class="cockpit" aria-label="Cockpit">
      <header>
        <p class="crumbs">
          <a href={`/trees/${tree}`}>{title === '' ? 'Tree' : title}</a>
        </p>
        <h1>{counted(rows.length, 'agent')}</h1>
        <p class="facts">
          {counts.map(([word, { length }]) => (
            <span key={word} class={`status ${word}`}>
              {length} {nameOf(word)}
            </span>
          ))}
        </p>
      </header>
      <Trouble error={error} />
      <div class="cockpit-grid">
        <ul class="live-rows" aria-label="Agents; activity of the last minute">
          {rows.map((one) => (
            <LiveRowView
              key={one.agent.id}
              row={one}
              chosen={one.agent.id === chosen}
              tabs={one.agent.id === chosen || (row === undefined && one === rows[0])}
              tree={tree}
            />
          ))}
        </ul>
        {row !== undefined && (
          <section class="live-tail" aria-label={`What ${row.agent.name} does`}>
            <h2>
              <a href={`/agents/${row.agent.id}`}>{row.agent.name}</a> <Standing of={row.agent} />
              <span class="dim"> {row.agent.model}</span>
            </h2>
            {asked.map((approval) => (
              <Approval key={approval.id} approval={approval} writes={writes} onAnswered={approvals.reload} />
            ))}
            <TailView key={row.agent.id} lines={tail} />
            {writes && row.agent.ended_at === null && (
              <Composer key={row.agent.id} agent={row.agent} onSent={() => undefined} />
            )}
          </section>
        )}
      </div>
    </section>
  );
}

function wordOf({ agent }: LiveRow): string {
  return shownWord(agent.status, agent.outcome, agent.outcome_text);
}

interface RowProps {
  readonly row: LiveRow;
  readonly chosen: boolean;
  readonly tabs: boolean;
  readonly tree: string;
}

/** Drawn again only if something of it has changed. */
class LiveRowView extends Component<RowProps> {
  override shouldComponentUpdate(next: RowProps): boolean {
    const { row, chosen, tabs } = this.props;
    return row !== next.row || chosen !== next.chosen || tabs !== next.tabs;
  }

  override render({ row, chosen, tabs, tree }: RowProps) {
    const { agent, depth, cells } = row;
    const active = cells.filter((level) => level > 0).length;
    return (
      <li>
        <button
          type="button"
          data-row
          tabIndex={tabs ? 0 : -1}
          aria-pressed={chosen}
          onClick={() => go(`/trees/${tree}/live?agent=${agent.id}`, { replace: true })}
        >
          <span
            class="name"
            ref={(name) => name?.style.setProperty('padding-left', `${10 * Math.min(depth, 6)}px`)}
          >
            <StatusSign word={wordOf(row)} /> {agent.name}
          </span>
          <span class="doing dim">{plainWords(agent.doing ?? agent.last_reply ?? '')}</span>
          <span
            class="cells"
            role="img"
            aria-label={`worked in ${active} of the last ${CELLS} spans of ${CELL_MS / 1_000} seconds`}
          >
            {cells.map((level, index) => (
              <i
                key={index}
                ref={(cell) => cell?.style.setProperty('--level', String(0.12 + 0.22 * level))}
              />
            ))}
          </span>
          <span class="number">{count(agent.tokens.input + agent.tokens.output)}</span>
          <span class="number">{dollars(agent.cost_usd)}</span>
        </button>
      </li>
    );
  }
}

/** Stays at its end while it grows, unless a person has scrolled up. */
function TailView({ lines }: { readonly lines: readonly TailLine[] }) {
  const box = useRef<HTMLDivElement>(null);
  const ends = useRef(true);
  useLayoutEffect(() => {
    if (box.current !== null && ends.current) box.current.scrollTop = box.current.scrollHeight;
  }, [lines]);
  return (
    <div
      ref={box}
      class="tail"
      role="log"
      aria-live="off"
      aria-label="Its newest words"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by the keyboard.
      tabIndex={0}
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        ends.current = scrollTop + clientHeight > scrollHeight - 30;
      }}
    >
      {lines.map(({ key, kind, text, lives }) => (
        <div key={key} class={`tail-line is-${kind}${lives ? ' lives' : ''}`}>
          {kind === 'said' && !lives ? <Markdown text={text} /> : text}
        </div>
      ))}
      {lines.length === 0 && <p class="empty">It has said nothing yet.</p>}
    </div>
  );
}
