import type { Model, ModelRequest } from '../../src/models/model.ts';
import { type Agent, isActive } from '../../src/records/agent/agent.ts';
import type { WorkflowWait } from '../../src/records/conversation/facts/workflow-wait.ts';
import type { AssistantPart, PlacedMessage } from '../../src/records/conversation/message.ts';
import { promptOf } from '../../src/records/conversation/prompt.ts';
import type { WorkflowTerms } from '../../src/records/workflow/workflow-terms.ts';
import type { Store } from '../../src/store/store.ts';
import { plannedModel } from './planned-workflow.ts';

export interface WorkflowTotals {
  readonly runs: number;
  readonly agents: number;
  /** Answers of runs that a new process gave again. */
  readonly replayed: number;
}

/** Returns the laws of workflows (docs/workflows.md#laws) that the runs of a ledger at rest break, in words. */
export async function brokenRuns(
  store: Store,
  removed: ReadonlySet<string>,
): Promise<{ readonly broken: readonly string[]; readonly totals: WorkflowTotals }> {
  const all = await store.agents({});
  const broken: string[] = [];
  const totals = { runs: 0, agents: 0, replayed: 0 };
  for (const run of all) {
    const terms = run.config.workflow;
    if (terms === undefined) continue;
    const history = await store.history(run.id);
    const own = all.filter(
      ({ parent_id, config }) => parent_id === run.id && config.task?.workflow !== undefined,
    );
    totals.runs += 1;
    totals.agents += own.length;
    const { replayed, fault } = await replay(run, terms, history);
    totals.replayed += replayed;
    broken.push(
      ...[
        ...recordedOnce(history),
        ...resultsOnce(history),
        ...agentsOnce(history, own, removed),
        ...fault,
      ].map((law) => `${law} (workflow run ${run.id})`),
      ...(own.length > terms.calls && own.every(({ config }) => config.workflow === undefined)
        ? [`law 8 of workflows: ${own.length} agents of ${terms.calls} (workflow run ${run.id})`]
        : []),
    );
  }
  return { broken, totals };
}

const partsOf = (history: readonly PlacedMessage[]) =>
  history.flatMap(({ kind, content }) => (kind === 'assistant' ? content.parts : []));
const resultsOf = (history: readonly PlacedMessage[]) =>
  history.flatMap(({ kind, content }) => (kind === 'result' ? [content] : []));

/** Law 1: a call is recorded once, with its place and its key. */
function recordedOnce(history: readonly PlacedMessage[]): string[] {
  const calls = partsOf(history).flatMap((part) =>
    part.type === 'call' && part.id.startsWith('call-') ? [part] : [],
  );
  const keys = calls.map(({ input }) => (JSON.parse(input) as { key?: string }).key);
  const inOrder = calls.every(({ id }, index) => id === `call-${index + 1}`);
  return inOrder && !keys.includes(undefined) && new Set(keys).size === keys.length
    ? []
    : [
        `law 1 of workflows: the calls are ${calls.map(({ id }, index) => `${id} ${keys[index]}`).join(', ')}`,
      ];
}

/** Law 2: the end of an agent is given once. */
function resultsOnce(history: readonly PlacedMessage[]): string[] {
  const arrived = resultsOf(history).flatMap(({ name, status, output }) =>
    name === 'next' && status === 'ok' ? (JSON.parse(output) as WorkflowWait).arrived : [],
  );
  const ids = arrived.flatMap((one) => ('outcome' in one ? [one.agent_id] : []));
  return new Set(ids).size === ids.length ? [] : [`law 2 of workflows: ends are given twice: ${ids}`];
}

/** Law 6: a call has one agent, and no agent is without a call. */
function agentsOnce(
  history: readonly PlacedMessage[],
  own: readonly Agent[],
  removed: ReadonlySet<string>,
): string[] {
  const called = resultsOf(history).flatMap(({ status, output, call_id }) => {
    if (status !== 'ok' || !call_id.startsWith('call-')) return [];
    const { agent_id } = JSON.parse(output) as { agent_id?: string };
    return agent_id === undefined ? [] : [agent_id];
  });
  const present = own.map(({ id }) => id);
  const extra = present.filter((id) => !called.includes(id));
  const missing = called.filter((id) => !present.includes(id) && !removed.has(id));
  return extra.length + missing.length === 0 && new Set(called).size === called.length
    ? []
    : [`law 6 of workflows: agents without a call: ${extra}; calls without an agent: ${missing}`];
}

/** Laws 4 and 5: from its conversation up to each answer, a new process gives that answer. */
async function replay(
  run: Agent,
  terms: WorkflowTerms,
  history: readonly PlacedMessage[],
): Promise<{ readonly replayed: number; readonly fault: readonly string[] }> {
  let replayed = 0;
  for (const [at, message] of history.entries()) {
    if (message.kind !== 'assistant') continue;
    const model: Model = plannedModel(run, terms);
    const asked = {
      ...{ agent: run, system: '', tools: [], thinking: 'off', shared_prefix: 0 },
      messages: promptOf(history.slice(0, at)).messages(),
      signal: new AbortController().signal,
    } as unknown as ModelRequest;
    const outcome = await model.stream(asked, () => undefined);
    await model.close?.();
    replayed += 1;
    const said = outcome.type === 'answer' ? shown(outcome.content.parts) : JSON.stringify(outcome);
    if (said !== shown(message.content.parts))
      return {
        replayed,
        fault: [
          `law 5 of workflows: answer ${message.seq} was ${shown(message.content.parts)} and is now ${said}`,
        ],
      };
  }
  const stuck = isActive(run) ? [`the run is ${run.state.type}`] : [];
  return { replayed, fault: stuck };
}

function shown(parts: readonly AssistantPart[]): string {
  return parts
    .map((part) =>
      part.type === 'call' ? `${part.id} ${part.name} ${part.input}` : part.type === 'text' ? part.text : '',
    )
    .join('\n');
}
