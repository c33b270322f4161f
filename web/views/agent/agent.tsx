import { useCallback, useMemo, useRef, useState } from 'preact/hooks';
import type { DocumentOf } from '../../../src/documents/shapes/all-documents.ts';
import { restsCut } from '../../../src/records/run/outcome.ts';
import { counted } from '../../../src/records/text/text.ts';
import { count, dollars } from '../../data/amounts.ts';
import { useApi } from '../../data/api.ts';
import { type Found, useFind, useHighlights } from '../../data/find.ts';
import { useKeys } from '../../data/keys.ts';
import { usePages } from '../../data/paged-list.ts';
import { usePrinting } from '../../data/printing.ts';
import { go } from '../../data/route.ts';
import { Button } from '../../parts/button.tsx';
import { Revealed } from '../../parts/fold-button.tsx';
import type { PageContext } from '../../parts/page.ts';
import { Seldom } from '../../parts/seldom.tsx';
import { Ended, Standing } from '../../parts/status.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import { VirtualList } from '../../parts/virtual-list.tsx';
import { When } from '../../parts/when.tsx';
import type { Place } from '../past/go-back.tsx';
import { AgentActions } from './agent-actions.tsx';
import { Composer } from './composer.tsx';
import { FindBar } from './find-bar.tsx';
import { MessageView } from './message.tsx';
import { RequestsView, SHOWN } from './requests.tsx';

const REFRESH_MS = 1_500;

export type FullAgent = DocumentOf<'coppice/agent/v1'>;
export type TreeAgents = DocumentOf<'coppice/tree/v1'>;
export type Messages = DocumentOf<'coppice/messages/v1'>;
export type Message = Messages['messages'][number];
type Requests = DocumentOf<'coppice/requests/v1'>;
export type ModelRequest = Requests['requests'][number];

const TABS = [
  ['transcript', 'Transcript'],
  ['prompt', 'As the model sees it'],
  ['requests', 'Requests'],
] as const;

/** Page of one agent: its conversation, its cost, and the actions of a person. */
export function AgentView({ route, writes }: PageContext) {
  const id = route.path[1] ?? '';
  const path = `/v1/agents/${encodeURIComponent(id)}`;
  const { data: agent, error, reload } = useApi<FullAgent>(id === '' ? null : path, REFRESH_MS);
  const requests = useApi<Requests>(
    agent === null ? null : `${path}/requests?tail=${SHOWN}`,
    0,
    agent?.requests,
  );
  const tree = useApi<TreeAgents>(
    agent === null ? null : `/v1/trees/${agent.root_id}`,
    0,
    agent?.children.length,
  );
  const tab = TABS.find(([name]) => name === route.query.get('view'))?.[0] ?? 'transcript';
  useKeys([
    ...TABS.map(([name, title], index) => ({
      key: String(index + 1),
      what: title.toLowerCase(),
      act: () => go(hrefOf(id, name)),
    })),
    ...(agent === null
      ? []
      : [
          {
            key: 'u',
            what: agent.parent_id === null ? 'its tree' : 'its parent',
            act: () =>
              go(agent.parent_id === null ? `/trees/${agent.root_id}` : `/agents/${agent.parent_id}`),
          },
        ]),
  ]);
  if (agent === null) return error === null ? <p class="empty">Loading…</p> : <Trouble error={error} />;
  return (
    <section class="agent" aria-labelledby="agent">
      <Heading agent={agent} tree={tree.data} />
      <div class="head">
        <nav class="tabs" aria-label="View">
          {TABS.map(([name, title], index) => (
            <a
              key={name}
              href={hrefOf(id, name)}
              aria-current={name === tab ? 'true' : undefined}
              title={String(index + 1)}
            >
              {title}
            </a>
          ))}
        </nav>
        {writes && <AgentActions agent={agent} onDone={reload} />}
      </div>
      <Trouble error={error} />
      {tab === 'transcript' && (
        <Transcript
          agent={agent}
          writes={writes}
          requests={requests.data?.requests ?? []}
          start={Number(route.query.get('seq')) || null}
          find={route.query.get('find')}
        />
      )}
      {tab === 'prompt' && (
        <Seldom part="prompt" agent={agent} request={requests.data?.requests.at(-1) ?? null} />
      )}
      {tab === 'requests' && (
        <RequestsView requests={requests.data?.requests ?? null} total={agent.requests} />
      )}
      {writes && agent.ended_at === null && <Composer agent={agent} onSent={reload} />}
    </section>
  );
}

function hrefOf(id: string, view: (typeof TABS)[number][0]): string {
  return `/agents/${id}${view === 'transcript' ? '' : `?view=${view}`}`;
}

function Heading({ agent, tree }: { readonly agent: FullAgent; readonly tree: TreeAgents | null }) {
  const names = new Map(tree?.agents.map(({ id, name }) => [id, name]));
  const nameOf = (id: string) => names.get(id) ?? id.slice(0, 8);
  const { input, output } = agent.tokens;
  return (
    <>
      <p class="crumbs">
        <a href={`/trees/${agent.root_id}`}>{tree?.title ?? 'Tree'}</a>
        {agent.parent_id !== null && (
          <>
            {' › '}
            <a href={`/agents/${agent.parent_id}`}>{nameOf(agent.parent_id)}</a>
          </>
        )}
      </p>
      <h1 id="agent">
        {agent.name} <Standing of={agent} />
      </h1>
      <p class="facts dim">
        <span>{agent.model}</span>
        {agent.thinking !== 'off' && <span>thinking {agent.thinking}</span>}
        {agent.profile !== null && <span>{agent.profile}</span>}
        <span>{counted(agent.tool_calls, 'call')}</span>
        <span>{count(input + output)} tokens</span>
        {agent.cost_usd !== null && agent.cost_usd > 0 && <span>{dollars(agent.cost_usd)}</span>}
        <Left id={agent.id} requests={agent.requests} />
        <span>
          began <When at={agent.started_at} since />
        </span>
        {agent.doing !== null && <span>{agent.paused === null ? agent.doing : agent.outcome_text}</span>}
        {agent.pending_approval !== null && <a href="/approvals">waits for an approval</a>}
      </p>
      {agent.deeds !== null && agent.deeds.line !== '' && <p class="facts dim">It did: {agent.deeds.line}</p>}
      {agent.children.length > 0 && (
        <p class="facts">
          <span class="dim">Children</span>
          {agent.children.toReversed().map((child) => (
            <a key={child} href={`/agents/${child}`}>
              {nameOf(child)}
            </a>
          ))}
        </p>
      )}
      <Ended of={agent} />
      {agent.unled !== null && (
        <p class={restsCut(agent) ? 'dim' : 'trouble'}>{`${agent.unled.why}. ${agent.unled.next}`}</p>
      )}
    </>
  );
}

interface TranscriptProps {
  readonly agent: FullAgent;
  readonly writes: boolean;
  readonly requests: readonly ModelRequest[];
  /** Number of the message that the link names. */
  readonly start: number | null;
  /** What the link searches for. */
  readonly find: string | null;
}

function Transcript({ agent, writes, requests, start, find }: TranscriptProps) {
  const { at, need, error } = usePages<Message, Messages>(`/v1/agents/${agent.id}/messages`, agent.messages);
  const opened = useRef(new Set<string>());
  const [, render] = useState(0);
  const toggle = useCallback((id: string) => {
    if (!opened.current.delete(id)) opened.current.add(id);
    render((n) => n + 1);
  }, []);
  const [query, setQuery] = useState(find);
  const found = useFind(agent.id, agent.messages, query ?? '');
  // Until a person moves, the place is that of the link, or the last one.
  const [chosen, setChosen] = useState<number | null>(start);
  const place = placeIn(found ?? [], chosen);
  const now = found?.[place];
  const target = useMemo(() => (now === undefined ? null : { index: now.index }), [now?.seq]);
  const list = useRef<HTMLDivElement>(null);
  useHighlights(list, query ?? '', now?.index ?? null);
  const [back, setBack] = useState<Place | null>(null);
  const printing = usePrinting();
  const inRow = (key: string) => () =>
    document.activeElement?.closest('[data-row]')?.querySelector<HTMLElement>(`[data-key="${key}"]`)?.click();
  useKeys([
    { key: '/', what: 'finds in the conversation', act: () => setQuery(query ?? '') },
    { key: 'w', what: 'why the answer in focus was given', act: inRow('w') },
    ...(writes ? [{ key: 'b', what: 'goes back to the message in focus', act: inRow('b') }] : []),
  ]);
  const move = (by: 1 | -1) => {
    const total = found?.length ?? 0;
    if (total > 0) setChosen(found?.[(place + by + total) % total]?.seq ?? null);
  };
  return (
    <div class="found-in" ref={list}>
      <Trouble error={error} />
      {query === null ? (
        <Button does="Find…" class="quiet open-find" title="/" onClick={() => setQuery('')} />
      ) : (
        <FindBar
          query={query}
          total={found?.length ?? null}
          place={place}
          onQuery={(text) => {
            setQuery(text);
            setChosen(null);
          }}
          onMove={move}
          onClose={() => setQuery(null)}
        />
      )}
      {printing && <OnPaper total={agent.messages} at={at} />}
      <VirtualList
        target={target}
        label="Transcript"
        count={agent.messages}
        start={start === null ? 'end' : start - 1}
        onView={need}
        item={(index) => (
          <Revealed.Provider value={index === now?.index}>
            <MessageView
              index={index}
              at={at}
              agent={agent}
              requests={requests}
              linked={index + 1 === start}
              opened={opened.current}
              onToggle={toggle}
              onBack={writes ? setBack : null}
            />
          </Revealed.Provider>
        )}
      />
      {back !== null && <Seldom part="go-back" place={back} onClose={() => setBack(null)} />}
    </div>
  );
}

/** What paper cannot show: messages that have not been read yet. */
function OnPaper({ total, at }: { readonly total: number; readonly at: (index: number) => unknown }) {
  const missing = Array.from({ length: total }, (_, index) => at(index)).filter((one) => one === undefined);
  if (missing.length === 0) return null;
  return (
    <p class="trouble">
      {missing.length} of {total} messages are not on this paper, because the page had not read them yet:
      Export… on the page of the tree writes all.
    </p>
  );
}

/** The place of the chosen message, of the next one that was found, or the last. */
function placeIn(found: readonly Found[], seq: number | null): number {
  const at = seq === null ? -1 : found.findIndex((one) => one.seq >= seq);
  return at < 0 ? Math.max(0, found.length - 1) : at;
}

/** What the agent may still spend, by the nearest budgets that limit it. */
function Left({ id, requests }: { readonly id: string; readonly requests: number }) {
  const { data } = useApi<DocumentOf<'coppice/budget/v1'>>(`/v1/agents/${id}/budget`, 0, requests);
  if (data === null) return null;
  const { usd, tokens } = data;
  const parts = [
    ...(usd.left === null ? [] : [`$${usd.left.toFixed(2)}`]),
    ...(tokens.left === null ? [] : [`${count(tokens.left)} tokens`]),
  ];
  return parts.length === 0 ? null : <span>{parts.join(' and ')} left</span>;
}
