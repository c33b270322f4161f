import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { isoTime } from '../documents/iso-time.ts';
import { type Agent, isActive } from '../records/agent/agent.ts';
import { failureOf } from '../records/agent/state.ts';
import type { Ask } from '../records/conversation/ask.ts';
import type { ResultContent } from '../records/conversation/message.ts';
import { clean } from '../render/clean.ts';
import { approvalForms } from './approval-forms.ts';
import type { ClientAgent, PlacedCall } from './client-agent.ts';
import { askLine, doingLine } from './listed-agents.ts';
import type { McpOptions } from './mcp-options.ts';
import { errorResult, invalidParams, type ToolAnswer, textResult } from './tool-answer.ts';
import { look, rowsOf } from './wait-tool.ts';

/**
 * Calls as tasks of the extension `io.modelcontextprotocol/tasks`. A task's id says where its call is in the ledger, and the task's state is read from there
 * each time. This process keeps nothing of it, so a task outlives the client and every process.
 */

export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

const POLL_MS = 1_000;
const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const OF_CALL = new RegExp(`^call\\.(${UUID})\\.(\\d{1,12})\\.(${UUID})$`);
const OF_TREE = new RegExp(`^tree\\.(${UUID})$`);

export interface TaskState {
  readonly taskId: string;
  readonly status: 'working' | 'input_required' | 'completed' | 'cancelled' | 'failed';
  readonly statusMessage?: string;
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
  readonly ttlMs: null;
  readonly pollIntervalMs: number;
  readonly inputRequests?: object;
  readonly result?: object;
}

export function taskOfCall({ root_id, after, id }: PlacedCall): string {
  return `call.${root_id}.${after}.${id}`;
}

export function taskOfTree(root_id: string): string {
  return `tree.${root_id}`;
}

/** The agents or the refusal that a task id refers to. */
interface Subject {
  readonly root: Agent;
  /** The agents that the call created; null if it has no result yet. */
  readonly ids: readonly string[] | null;
  /** Id of a call that has no result yet. */
  readonly call?: string;
  readonly refused?: ResultContent;
}

type Sources = Pick<McpOptions, 'store' | 'runtime'>;

/** Throws an error of the protocol for an unknown task id, or one of another client. */
export async function subjectOf(client: ClientAgent, task_id: string, { store }: Sources): Promise<Subject> {
  const [, call_root = '', after = '', call = ''] = OF_CALL.exec(task_id) ?? [];
  const [, tree_root = ''] = OF_TREE.exec(task_id) ?? [];
  const root_id = call_root || tree_root;
  const root = root_id === '' ? null : await store.agent(root_id);
  if (root === null || !(await client.owns(root))) throw unknownTask();
  if (tree_root !== '') return { root, ids: [root.id] };
  const result = await client.resultOf({ id: call, root_id, after: Number(after) });
  if (result === null) {
    // A call whose letter was never written has no result either.
    if (!(await store.mail(root_id, true)).some(({ id }) => id === call)) throw unknownTask();
    return { root, ids: null, call };
  }
  return result.status === 'ok'
    ? { root, ids: result.facts?.created ?? [] }
    : { root, ids: [], refused: result };
}

function unknownTask(): ProtocolError {
  return invalidParams('unknown task: it was deleted or never existed');
}

/** Reads the state of a task from the ledger. `elicits`: the client can show forms to its user. */
export async function taskState(
  client: ClientAgent,
  task_id: string,
  sources: Sources,
  elicits: boolean,
): Promise<TaskState> {
  const { root, ids, call, refused } = await subjectOf(client, task_id, sources);
  const { store } = sources;
  await client.lead([root]).catch(() => undefined);
  const now = await look(client, ids ?? [], sources);
  const agents = (await Promise.all((ids ?? []).map((id) => store.agent(id)))).filter((one) => one !== null);
  const newest = Math.max(root.created_at, ...agents.map(({ updated_at }) => updated_at));
  const oldest = Math.min(...agents.map(({ created_at }) => created_at), root.updated_at);
  const state = (status: TaskState['status'], more: object = {}): TaskState => ({
    taskId: task_id,
    status,
    createdAt: isoTime(oldest),
    lastUpdatedAt: isoTime(Math.max(newest, oldest)),
    ttlMs: null,
    pollIntervalMs: POLL_MS,
    ...more,
  });
  // The answer that the call would have had: the library adds `resultType` to answers, but not to what they contain.
  const completed = (answer: ToolAnswer): TaskState =>
    state('completed', { result: { resultType: 'complete', ...answer } });
  const waitsForPerson = (asks: readonly Ask[]): TaskState => {
    const waits = `waits for a person: ${clean(asks.map(askLine).join(' · '))}`;
    return elicits
      ? state('input_required', { statusMessage: waits, inputRequests: approvalForms(asks) })
      : state('working', { statusMessage: `${waits} (coppice approvals list)` });
  };
  if (refused !== undefined) return completed(errorResult(refused.output));
  if (ids === null) {
    const failure = isActive(root) ? null : failureOf(root.state);
    if (failure !== null) return completed(errorResult(failure.error));
    const asks = await asksOfCall(root, call, store);
    return asks.length === 0
      ? state('working', { statusMessage: 'the call is being carried out' })
      : waitsForPerson(asks);
  }
  if (now.open.length > 0) {
    const message = `${ids.length - now.open.length} of ${ids.length} done · ${doingLine(now.open)}`;
    return now.asks.length === 0 ? state('working', { statusMessage: message }) : waitsForPerson(now.asks);
  }
  const rows = await rowsOf(client, ids, now, sources);
  const by = cancelledBy(client);
  const are_cancelled = agents.every(({ state }) => state.type === 'killed' && state.by === by);
  if (rows.length > 0 && agents.length > 0 && are_cancelled)
    return state('cancelled', { statusMessage: 'its agents were ended before they were done' });
  return completed(textResult({ results: rows }));
}

function cancelledBy(client: ClientAgent): string {
  return `the user of ${client.name}`;
}

/** The open approvals that a call without a result waits for. */
async function asksOfCall(
  { id: root_id }: Agent,
  call: string | undefined,
  store: Sources['store'],
): Promise<Ask[]> {
  return (await store.asks({ root_id, open: true })).filter((ask) => ask.call_id === call);
}

/** Kills the agents of a task that are still at work; what they have done remains. A call that was not carried out yet never is. */
export async function cancelTask(client: ClientAgent, task_id: string, sources: Sources): Promise<void> {
  const { root, ids, call } = await subjectOf(client, task_id, sources);
  const { store, runtime } = sources;
  if (call !== undefined && !(await runtime.takeBack(root.id, call))) {
    const asks = await asksOfCall(root, call, store);
    for (const { id } of asks)
      await runtime.answer(id, {
        verdict: 'deny',
        scope: 'once',
        note: `cancelled by ${cancelledBy(client)}`,
      });
    if (asks.length === 0)
      throw new ProtocolError(
        ProtocolErrorCode.InvalidRequest,
        'the call is just being carried out: cancel it again',
      );
  }
  const { open } = await look(client, ids ?? [], sources);
  for (const { id } of open) await runtime.kill(id, cancelledBy(client));
}
