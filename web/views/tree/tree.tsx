import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import { useApi } from '../../data/api.ts';
import { EXPORTED } from '../../data/exported.ts';
import { useKeys, useListedKeys } from '../../data/keys.ts';
import { go } from '../../data/route.ts';
import { Button } from '../../parts/button.tsx';
import type { PageContext } from '../../parts/page.ts';
import { Seldom } from '../../parts/seldom.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import { Approval } from '../approvals.tsx';
import type { Place } from '../past/go-back.tsx';
import type { Why } from '../past/why.tsx';
import { RunHead, RunPanel, useWorkflowRun } from '../workflows/run-panel.tsx';
import { AgentMap, MAP_MIN } from './agent-map.tsx';
import { AgentsTable } from './agents-table.tsx';
import { axisOf, type Range, shifted, zoomed } from './axis.ts';
import { Inspector } from './inspector.tsx';
import type { Lane, Timeline } from './lanes.ts';
import { LanesPicture } from './lanes-picture.tsx';
import { linksOf, whyLinks } from './links.ts';
import { useTimeline } from './live-timeline.ts';
import { linkedIn, TABS, type Tab, usePermanentLink } from './permanent-link.ts';
import type { Selection } from './picture.ts';
import { rowsOf } from './rows.ts';
import { Stacks } from './stacks.tsx';
import { TasksTable } from './tasks-table.tsx';
import { Legend, Scrubber, TreeHead } from './tree-head.tsx';
import { TreeSummary } from './tree-summary.tsx';

/** Keys of the timeline, while it has the focus. */
const TIMELINE_KEYS = [
  { key: '+ −', what: 'timeline: zoom in, out' },
  { key: '0', what: 'timeline: show all' },
  { key: '← →', what: 'timeline: earlier, later' },
  { key: '↑ ↓ ', what: 'timeline: agent above, below' },
  { key: 'Shift ← →', what: 'timeline: previous, next step' },
  { key: 'Enter ', what: 'timeline: opens the agent at the step' },
  { key: 'Esc', what: 'timeline: clears the selection' },
];

/** One tree: what every agent did when, who waited for whom, what it used. */
export function TreeView(context: PageContext) {
  const { route } = context;
  const [, id = ''] = route.path;
  const { timeline, error } = useTimeline(id);
  return (
    <section aria-label="Tree">
      <Trouble error={error} />
      {timeline === null ? (
        error === null && <p class="empty">Reading…</p>
      ) : (
        <TreePicture timeline={timeline} context={context} />
      )}
    </section>
  );
}

function TreePicture({ timeline, context }: { readonly timeline: Timeline; readonly context: PageContext }) {
  const like = useMemo(() => context.route.query.get('like'), []);
  const first = useMemo(() => linkedIn(context.route.query, timeline), []);
  const [tab, setTab] = useState<Tab>(first.tab);
  const [selected, choose] = useState(first.selected);
  const [asked_why, setWhy] = useState(first.why);
  const [back, setBack] = useState<Place | null>(null);
  const setSelected = useCallback((next: Selection | null) => {
    choose(next);
    setWhy(null);
  }, []);
  const [shown, setShown] = useState(first.shown);
  const [until, setUntil] = useState(first.until);
  const [order, setOrder] = useState(first.order);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  // What waits for an answer stands above.
  const answered = { ...context, approvals: { ...context.approvals, data: [] } };
  const asked = (context.approvals.data ?? []).filter(({ root_id }) => root_id === timeline.root_id);
  const runs = timeline.lanes.filter(({ about }) => about.workflow !== null);
  const run = useWorkflowRun(runOf(timeline, runs, selected)?.id ?? null);
  const axis = useMemo(() => axisOf(timeline), [timeline]);
  const rows = useMemo(() => rowsOf(timeline.lanes, open), [timeline, open]);
  const chosen = timeline.lanes[selected?.lane ?? -1];
  const why = useApi<Why>(
    chosen === undefined || asked_why === null ? null : `/v1/agents/${chosen.id}/why?message=${asked_why}`,
  );
  const led = why.data;
  const links = useMemo(() => (led === null ? linksOf(timeline) : whyLinks(timeline, led)), [timeline, led]);
  const slice = useMemo(() => {
    const of = new Map(timeline.lanes.map(({ id, index }) => [id, index]));
    return led && new Set(led.steps.map(({ agent_id, seq }) => `${of.get(agent_id ?? '')} ${seq}`));
  }, [led]);
  const range = useMemo(() => shown ?? { from: 0, to: axis.length }, [shown, axis]);
  const setRange = useCallback(
    ({ from, to }: Range) => setShown(from <= 0 && to >= axis.length ? null : { from, to }),
    [axis],
  );
  /** The route that what is shown has followed; the present one may be newer. */
  const [followed, setFollowed] = useState(context.route);
  // Back and Forward within the page of the tree.
  useEffect(() => {
    if (followed === context.route) return;
    setFollowed(context.route);
    const linked = linkedIn(context.route.query, timeline);
    setTab(linked.tab);
    choose(linked.selected);
    setWhy(linked.why);
    setShown(linked.shown);
    setUntil(linked.until);
    setOrder(linked.order);
  }, [context.route]);
  usePermanentLink(timeline, followed, { tab, selected, shown, until, order, why: asked_why });
  const scene = useMemo(
    () => ({ timeline, axis, range, rows, links, selected, until, why: slice }),
    [timeline, axis, range, rows, links, selected, until, slice],
  );
  const map = useMemo(
    () =>
      timeline.lanes.length < MAP_MIN ? null : (
        <AgentMap timeline={timeline} until={until} order={order} onOrder={setOrder} />
      ),
    [timeline, until, order],
  );
  useListedKeys(TIMELINE_KEYS);
  useKeys(
    EXPORTED === null
      ? [{ key: 'l', what: 'its cockpit', act: () => go(`/trees/${timeline.root_id}/live`) }]
      : [],
  );
  const onGroup = useCallback((key: string) => setOpen((before) => toggled(before, key)), []);
  const zoom = (by: number) => setRange(zoomed(range, by, (range.from + range.to) / 2, axis.length));
  const press = (event: KeyboardEvent) => {
    if (
      (event.target as Element).closest('input, a') !== null ||
      event.ctrlKey ||
      event.metaKey ||
      event.altKey
    )
      return;
    const step = (range.to - range.from) / 8;
    if (event.key === '+' || event.key === '=') zoom(0.6);
    else if (event.key === '-') zoom(1 / 0.6);
    else if (event.key === '0') setShown(null);
    else if (event.key === 'ArrowLeft' && event.shiftKey) setSelected(moved(timeline, selected, -1));
    else if (event.key === 'ArrowRight' && event.shiftKey) setSelected(moved(timeline, selected, 1));
    else if (event.key === 'ArrowLeft') setRange(shifted(range, -step, axis.length));
    else if (event.key === 'ArrowRight') setRange(shifted(range, step, axis.length));
    else if (event.key === 'ArrowUp') setSelected(neighbour(rows, selected, -1));
    else if (event.key === 'ArrowDown') setSelected(neighbour(rows, selected, 1));
    else if (event.key === 'Escape') setSelected(null);
    else if (event.key === 'Enter' && event.target === event.currentTarget && selected !== null)
      openAgent(timeline, selected);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <>
      <TreeHead timeline={timeline} />
      {asked.map((approval) => (
        <Approval
          key={approval.id}
          approval={approval}
          writes={context.writes}
          onAnswered={context.approvals.reload}
        />
      ))}
      <TreeSummary
        root_id={timeline.root_id}
        context={context}
        is_run={timeline.lanes[0]?.about.workflow !== null}
        like={like}
      />
      {run.data !== null && <RunHead run={run.data} onDone={run.reload} writes={context.writes} />}
      {map}
      <div class="tree-tools">
        <fieldset class="zoom">
          <legend class="hidden">Zoom</legend>
          <Button does="+" title="+" aria-label="Zoom in" onClick={() => zoom(0.6)} />
          <Button does="−" title="-" aria-label="Zoom out" onClick={() => zoom(1 / 0.6)} />
          <Button does="All" title="0" onClick={() => setShown(null)} />
        </fieldset>
        <Scrubber
          timeline={timeline}
          place={until === null ? axis.length : axis.to(until)}
          length={axis.length}
          onPlace={(place) => setUntil(place >= axis.length ? null : axis.from(place))}
          until={until}
        />
        <Legend />
      </div>
      <div class="tree-grid">
        <div
          role="application"
          class="tree-picture"
          aria-label="Timeline; the tab Tree has it as a table"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: it takes the keys of the picture
          tabIndex={0}
          onKeyDown={press}
        >
          <LanesPicture scene={scene} onRange={setRange} onSelect={setSelected} onGroup={onGroup} />
        </div>
        <Inspector
          timeline={timeline}
          selected={selected}
          why={asked_why === null ? null : why}
          onSelect={setSelected}
          onWhy={setWhy}
          onBack={context.writes ? setBack : null}
        />
      </div>
      {back !== null && <Seldom part="go-back" place={back} onClose={() => setBack(null)} />}
      <div role="tablist" class="below-tabs" aria-label="Below the timeline">
        {TABS.filter(([name]) => name !== 'workflow' || runs.length > 0).map(([name, title]) => (
          <Button
            does={title}
            key={name}
            role="tab"
            id={`tab-${name}`}
            aria-selected={tab === name}
            aria-controls="below"
            onClick={() => setTab(name)}
          />
        ))}
      </div>
      <div role="tabpanel" id="below" aria-labelledby={`tab-${tab}`}>
        {tab === 'workflow' && (
          <>
            {runs.length > 1 && (
              <nav class="tabs" aria-label="Runs">
                {runs.map(({ id, index, about }) => (
                  <Button
                    does={about.workflow}
                    key={id}
                    class="quiet"
                    aria-current={id === run.data?.id ? 'true' : undefined}
                    onClick={() => setSelected({ lane: index, bar: null })}
                  />
                ))}
              </nav>
            )}
            <Trouble error={run.error} />
            {run.data !== null && <RunPanel run={run.data} context={answered} onDone={run.reload} />}
          </>
        )}
        {(tab === 'tokens' || tab === 'cost') && (
          <Stacks timeline={timeline} axis={axis} range={range} what={tab} until={until} />
        )}
        {tab === 'messages' && (
          <Seldom part="mail" timeline={timeline} until={until} only={selected?.lane ?? null} />
        )}
        {tab === 'files' && <Seldom part="files" root_id={timeline.root_id} writes={context.writes} />}
        {tab === 'tasks' && <TasksTable root_id={timeline.root_id} />}
        {tab === 'tree' && <AgentsTable timeline={timeline} until={until} onSelect={setSelected} />}
      </div>
    </>
  );
}

/** The run that is shown: the selected one, else that of the selected agent, else the first. */
function runOf({ lanes }: Timeline, runs: readonly Lane[], selected: Selection | null): Lane | undefined {
  for (let lane = lanes[selected?.lane ?? -1]; lane !== undefined; lane = lanes[lane.about.parent ?? -1])
    if (lane.about.workflow !== null) return lane;
  return runs[0];
}

function toggled(set: ReadonlySet<string>, key: string): ReadonlySet<string> {
  const next = new Set(set);
  if (!next.delete(key)) next.add(key);
  return next;
}

function neighbour(
  rows: ReturnType<typeof rowsOf>,
  selected: Selection | null,
  by: number,
): Selection | null {
  const agents = rows.flatMap((row) => (row.type === 'agent' ? [row.lane.index] : []));
  const at = agents.indexOf(selected?.lane ?? -1);
  const lane = agents[Math.min(agents.length - 1, Math.max(0, at + by))];
  return lane === undefined ? selected : { lane, bar: null };
}

function moved({ lanes }: Timeline, selected: Selection | null, by: number): Selection | null {
  const lane = lanes[selected?.lane ?? 0];
  if (lane === undefined) return selected;
  const from = selected?.bar ?? (by > 0 ? -1 : lane.bars.length);
  return { lane: lane.index, bar: Math.min(lane.bars.length - 1, Math.max(0, from + by)) };
}

function openAgent({ lanes }: Timeline, { lane, bar }: Selection): void {
  const found = lanes[lane];
  if (found === undefined) return;
  const seq = bar === null ? null : found.bars[bar]?.seq;
  go(`/agents/${found.id}${seq == null ? '' : `?seq=${seq}`}`);
}
