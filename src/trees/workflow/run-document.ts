import { isoTime } from '../../documents/iso-time.ts';
import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import { refusalOf } from '../../models/workflow/recorded-run.ts';
import { readMeta, type ScriptMeta } from '../../models/workflow/script-source.ts';
import { type Agent, isActive } from '../../records/agent/agent.ts';
import { failureOf } from '../../records/agent/state.ts';
import { addUsage, type Usage } from '../../records/agent/usage.ts';
import { outcomeOf } from '../../records/run/outcome.ts';
import { parsedObject } from '../../records/text/json-text.ts';
import { REUSED } from '../../records/workflow/earlier-call.ts';
import type { ResultPlace } from '../../records/workflow/workflow-terms.ts';
import { ledStatus } from '../../render/agent-status.ts';
import type { Store } from '../../store/store.ts';
import { pause } from '../cpu-meter.ts';
import type { ReadSources } from '../find-agent.ts';
import { unledOf } from '../leaders/unled-reason.ts';
import { oneWorkflowRun } from './steer-runs.ts';
import { hasFailed, STARTS, withoutRetried, workflowFailure } from './workflow-failure.ts';

/** How runs stand, as documents that commands print and the server answers with (docs/workflows.md). */

type RunDocument = DocumentOf<'coppice/workflow-run/v1'>;
type Row = RunDocument['agents'][number];
type Refused = RunDocument['refused'];

const LABEL_MAX = 60;

export async function workflowRunDocument(sources: ReadSources, text: string): Promise<RunDocument> {
  const { store } = sources;
  const run = await oneWorkflowRun(store, text);
  const [all, unled, calls] = await Promise.all([
    store.agents({ root_id: run.root_id }),
    unledOf(sources.unled, store, run.root_id),
    callsWithoutAgent(store, run.id),
  ]);
  const used = usageWithin(all);
  const rows = withoutRetried(all.filter(({ parent_id }) => parent_id === run.id))
    .toReversed()
    .map((agent) => rowOf(agent, used.get(agent.id) ?? agent.usage, unled?.why));
  const inside = Map.groupBy(rows, ({ phase }) => phase);
  const declared = declaredPhases(run);
  const titles = new Set([...declared.map(({ title }) => title), ...inside.keys()]);
  return {
    ...{ schema: 'coppice/workflow-run/v1', ...runRow(run, rows, calls, unled?.why), ...usedBy(rows) },
    paused: run.config.workflow?.paused?.by ?? null,
    failure: await workflowFailure(store, run.id),
    result: run.reply,
    phases: [...titles].map((title) => ({
      ...{ title, detail: declared.find((one) => one.title === title)?.detail ?? null },
      ...phaseOf(inside.get(title) ?? []),
    })),
    refused: calls.refused,
    agents: rows.toSorted((a, b) => Number(hasFailed(b)) - Number(hasFailed(a))),
  };
}

export const WORKFLOW_RUNS_USUAL = 100;

export async function workflowRunsDocument(
  { store, unled }: ReadSources,
  { before, limit = WORKFLOW_RUNS_USUAL }: { readonly before?: string | undefined; readonly limit?: number },
): Promise<DocumentOf<'coppice/workflow-runs/v1'>> {
  const runs: DocumentOf<'coppice/workflow-runs/v1'>['runs'][number][] = [];
  for (const run of await store.agents({ workflows: true, before, limit })) {
    const why = (await unledOf(unled, store, run.root_id))?.why;
    const agents = withoutRetried(await store.agents({ parent_id: run.id }));
    const rows = agents.map((agent) => rowOf(agent, agent.usage, why));
    runs.push(runRow(run, rows, await callsWithoutAgent(store, run.id), why));
    await pause();
  }
  return { schema: 'coppice/workflow-runs/v1', runs };
}

export async function workflowScriptDocument(
  store: Pick<Store, 'find'>,
  text: string,
): Promise<DocumentOf<'coppice/workflow-script/v1'>> {
  const { id, config } = await oneWorkflowRun(store, text);
  const { name = '', script = '', args = null, calls = 0 } = config.workflow ?? {};
  return { schema: 'coppice/workflow-script/v1', id, name, script, args, calls };
}

function declaredPhases({ config }: Agent): ScriptMeta['phases'] {
  const script = config.workflow?.script ?? '';
  // A function of a program has no script.
  return script === '' ? [] : readMeta(script).phases;
}

interface CallsWithoutAgent {
  /** Messages up to this one are counted. */
  readonly seq: number;
  /** The calls that have no result yet, by their ids. */
  readonly open: ReadonlyMap<string, string>;
  readonly refused: Refused;
  /** Number of calls whose result an earlier run had. */
  readonly reused: number;
}

/** What was read of runs: lists of them are asked for again and again, and a conversation only grows. */
const counted = new Map<string, CallsWithoutAgent>();
const COUNTED_MAX = 1_000;

/** The calls of a script that started nothing, oldest first. */
async function callsWithoutAgent(store: Pick<Store, 'history'>, run_id: string): Promise<CallsWithoutAgent> {
  const before = counted.get(run_id);
  let { seq = 0, reused = 0 } = before ?? {};
  const [open, refused] = [new Map(before?.open), [...(before?.refused ?? [])]];
  for (const { seq: at, kind, content } of await store.history(run_id, seq)) {
    seq = at;
    if (kind === 'assistant')
      for (const part of content.parts) if (part.type === 'call') open.set(part.id, part.input);
    if (kind !== 'result') continue;
    const input = open.get(content.call_id) ?? '';
    open.delete(content.call_id);
    if (!STARTS.has(content.name)) continue;
    if (content.output.startsWith(REUSED)) reused += 1;
    if (content.status === 'ok') continue;
    const { label, prompt, phase } = (parsedObject(input) ?? {}) as Partial<
      Record<'label' | 'prompt' | 'phase', string>
    >;
    const [shown, reason] = [label ?? prompt?.slice(0, LABEL_MAX) ?? '', refusalOf(content.output)];
    refused.push({ label: shown, phase: phase ?? null, reason });
  }
  if (counted.size >= COUNTED_MAX) counted.clear();
  counted.set(run_id, { seq, open, refused, reused });
  return { seq, open, refused, reused };
}

function runRow(run: Agent, rows: readonly Row[], { refused, reused }: CallsWithoutAgent, unled?: string) {
  const { agents, done: succeeded, failed, skipped } = countsOf(rows);
  const { id, root_id, created_at, ended_at, config } = run;
  const { name = run.name, description = '' } = config.workflow ?? {};
  return {
    ...{ id, root_id, name, description, status: ledStatus(run, unled !== undefined) },
    ...outcomeOf(run, unled),
    counts: {
      ...{ succeeded, failed: failed + refused.length, skipped },
      ...{ reused, running: agents - succeeded - failed - skipped },
    },
    ...{
      started_at: isoTime(created_at),
      ended_at: isoTime(isActive(run) ? null : (ended_at ?? run.updated_at)),
    },
  };
}

function rowOf(agent: Agent, { input, output, cost_usd }: Usage, unled?: string): Row {
  const { id, name, config, state, created_at, ended_at } = agent;
  const { task, workflow } = config;
  return {
    ...{ id, label: task?.label ?? name, phase: task?.workflow?.phase ?? null },
    kind: workflow === undefined ? 'agent' : workflow.ask === undefined ? 'workflow' : 'ask',
    ...{ status: ledStatus(agent, unled !== undefined), ...outcomeOf(agent, unled) },
    error: failureOf(state)?.error ?? null,
    ...{ tokens: input + output, cost_usd, started_at: isoTime(created_at), ended_at: isoTime(ended_at) },
  };
}

function countsOf(rows: readonly Row[]) {
  const of = (fits: (row: Row) => boolean) => rows.filter(fits).length;
  const [done, failed] = [of(({ outcome }) => outcome === 'done'), of(hasFailed)];
  return { agents: rows.length, done, failed, skipped: of(({ outcome }) => outcome === 'stopped') };
}

function usedBy(rows: readonly Row[]) {
  const priced = rows.flatMap(({ cost_usd }) => cost_usd ?? []);
  return {
    tokens: rows.reduce((sum, { tokens }) => sum + tokens, 0),
    cost_usd: priced.length === 0 ? null : priced.reduce((sum, cost) => sum + cost, 0),
  };
}

function phaseOf(rows: readonly Row[]) {
  const ends = rows.flatMap(({ ended_at }) => ended_at ?? []).sort();
  return {
    ...countsOf(rows),
    ...usedBy(rows),
    started_at: rows[0]?.started_at ?? null,
    ended_at: ends.length < rows.length ? null : (ends.at(-1) ?? null),
  };
}

/** What each agent and all below it have used. `all`: newest first. */
function usageWithin(all: readonly Agent[]): ReadonlyMap<string, Usage> {
  const used = new Map(all.map(({ id, usage }) => [id, usage]));
  for (const { id, parent_id } of all) {
    const [own, above] = [used.get(id), parent_id === null ? undefined : used.get(parent_id)];
    if (parent_id !== null && own !== undefined && above !== undefined)
      used.set(parent_id, addUsage(above, own));
  }
  return used;
}

/** `3 succeeded, 1 failed, 2 running`. */
export function countsText(counts: RunDocument['counts']): string {
  const told = Object.entries(counts).flatMap(([what, many]) => (many > 0 ? [`${many} ${what}`] : []));
  return told.length === 0 ? 'no agents yet' : told.join(', ');
}

/** What became of what a script started, for programs. */
export type WorkflowCounts = RunDocument['counts'] & {
  readonly failures: readonly {
    /** Null for a call that was refused. */
    readonly agent_id: string | null;
    readonly label: string;
    readonly phase: string | null;
    readonly reason: string;
  }[];
};

export async function workflowCounts(store: Store, run: Agent): Promise<WorkflowCounts> {
  const agents = withoutRetried(await store.agents({ parent_id: run.id }));
  const rows = agents.map((agent) => rowOf(agent, agent.usage));
  const calls = await callsWithoutAgent(store, run.id);
  const failed = rows.filter(hasFailed).map(({ id: agent_id, label, phase, error, outcome_text }) => ({
    ...{ agent_id, label, phase, reason: error ?? outcome_text },
  }));
  const failures = [...failed, ...calls.refused.map((one) => ({ agent_id: null, ...one }))];
  return { ...runRow(run, rows, calls).counts, failures };
}

/** What the script of a run returned, as a JSON value; undefined if its newest answer is no result. */
export async function workflowValue(store: Store, run_id: string): Promise<unknown> {
  const last = (await store.history(run_id)).findLast(({ kind }) => kind === 'assistant');
  const [part] = last?.kind === 'assistant' ? last.content.parts : [];
  const found = part?.type === 'text' ? (part.metadata?.workflow as ResultPlace | undefined) : undefined;
  if (part?.type !== 'text' || found === undefined) return undefined;
  const text = part.text.slice(found.from);
  return found.is_text ? text : JSON.parse(text);
}
