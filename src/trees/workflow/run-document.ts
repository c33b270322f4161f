import type { Agent } from '../../records/agent/agent.ts';
import { failureOf, isTerminal } from '../../records/agent/state.ts';
import { type Outcome, outcomeOf, UNSUCCESSFUL } from '../../records/run/outcome.ts';
import type { Store } from '../../store/store.ts';
import { isWorkflowRun, oneWorkflowRun } from './steer-runs.ts';

/** How a run stands, as documents that commands print and the server answers with. */

/** What has become of the calls of a run. */
export interface RunCounts {
  readonly succeeded: number;
  /** Agents that failed or were cut short, and calls that were refused. */
  readonly failed: number;
  /** Agents that a person or the script ended. */
  readonly skipped: number;
  /** Calls whose result an earlier run had. */
  readonly reused: number;
  readonly running: number;
}

/** An agent of a run. */
export interface RunAgent extends Outcome {
  readonly id: string;
  readonly label: string;
  readonly phase: string | null;
  readonly error: string | null;
  readonly tokens: number;
  readonly cost_usd: number;
}

/** A row of `coppice/workflow-runs/v1`. */
export interface RunRow extends Outcome {
  readonly id: string;
  readonly root_id: string;
  readonly name: string;
  readonly description: string;
  readonly counts: RunCounts;
}

/** `coppice/workflow-run/v1`. */
export interface RunDocument extends RunRow {
  readonly schema: 'coppice/workflow-run/v1';
  readonly phases: readonly {
    readonly title: string | null;
    readonly agents: number;
    readonly done: number;
    readonly failed: number;
    readonly tokens: number;
    readonly cost_usd: number;
  }[];
  /** Failures first. */
  readonly agents: readonly RunAgent[];
}

export interface RunsDocument {
  readonly schema: 'coppice/workflow-runs/v1';
  readonly runs: readonly RunRow[];
}

const STARTS: ReadonlySet<string> = new Set(['agent', 'workflow', 'ask']);
const ROWS_MAX = 30;
/** Newest agents among which runs are looked for. */
const LOOKED_MAX = 2_000;

export async function workflowRunDocument(store: Store, text: string): Promise<RunDocument> {
  const run = await oneWorkflowRun(store, text);
  const agents = await agentsOf(store, run);
  const rows = agents.map(rowOf).sort((a, b) => Number(b.error !== null) - Number(a.error !== null));
  const phases = [...Map.groupBy(rows, ({ phase }) => phase)].map(([title, inside]) => ({
    title,
    ...{ agents: inside.length, done: inside.filter(({ outcome }) => outcome === 'done').length },
    ...{ failed: inside.filter(({ error }) => error !== null).length },
    tokens: inside.reduce((sum, { tokens }) => sum + tokens, 0),
    cost_usd: inside.reduce((sum, { cost_usd }) => sum + cost_usd, 0),
  }));
  return { schema: 'coppice/workflow-run/v1', ...(await headOf(store, run, agents)), phases, agents: rows };
}

/** `coppice/workflow-runs/v1`: the newest runs. */
export async function workflowRunsDocument(store: Store): Promise<RunsDocument> {
  const [roots, newest] = await Promise.all([
    store.agents({ roots: true, limit: LOOKED_MAX }),
    store.agents({ limit: LOOKED_MAX }),
  ]);
  const found = new Map([...roots, ...newest].filter(isWorkflowRun).map((run) => [run.id, run]));
  const newest_first = [...found.values()].sort((a, b) => b.created_at - a.created_at).slice(0, ROWS_MAX);
  const runs: RunRow[] = [];
  for (const run of newest_first) runs.push(await headOf(store, run, await agentsOf(store, run)));
  return { schema: 'coppice/workflow-runs/v1', runs };
}

function agentsOf(store: Store, { id }: Agent): Promise<Agent[]> {
  return store.agents({ parent_id: id });
}

async function headOf(store: Store, run: Agent, agents: readonly Agent[]): Promise<RunRow> {
  const { name = run.name, description = '' } = run.config.workflow ?? {};
  const counts = await countsOf(store, run, agents);
  return { id: run.id, root_id: run.root_id, name, description, ...outcomeOf(run), counts };
}

async function countsOf(store: Store, { id }: Agent, agents: readonly Agent[]): Promise<RunCounts> {
  const results = (await store.history(id)).flatMap((message) =>
    message.kind === 'result' && STARTS.has(message.content.name) ? [message.content] : [],
  );
  const refused = results.filter(({ status }) => status !== 'ok').length;
  const ended = agents.filter(({ state }) => isTerminal(state.type)).map((agent) => outcomeOf(agent).outcome);
  const skipped = ended.filter((outcome) => outcome === 'stopped').length;
  const failed = ended.filter((outcome) => UNSUCCESSFUL.has(outcome)).length - skipped;
  return {
    ...{ succeeded: ended.length - failed - skipped, failed: failed + refused, skipped },
    ...{ reused: 0, running: agents.length - ended.length },
  };
}

function rowOf(agent: Agent): RunAgent {
  const { id, name, config, usage, state } = agent;
  return {
    ...{ id, label: config.task?.label ?? name, phase: config.task?.workflow?.phase ?? null },
    ...outcomeOf(agent),
    ...{ error: failureOf(state)?.error ?? null, tokens: usage.input + usage.output },
    cost_usd: usage.cost_usd ?? 0,
  };
}

/** `3 succeeded, 1 failed, 2 running`. */
export function countsText(counts: RunCounts): string {
  const told = Object.entries(counts).flatMap(([what, many]) => (many > 0 ? [`${many} ${what}`] : []));
  return told.length === 0 ? 'no agents yet' : told.join(', ');
}
