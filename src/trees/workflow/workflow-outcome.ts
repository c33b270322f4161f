import { refusalOf } from '../../models/workflow/recorded-run.ts';
import { failureOf } from '../../records/agent/state.ts';
import type { CallPart } from '../../records/conversation/message.ts';
import { outcomeOf, UNSUCCESSFUL } from '../../records/run/outcome.ts';
import { parsedObject } from '../../records/text/json-text.ts';
import type { ResultPlace } from '../../records/workflow/workflow-terms.ts';
import type { Store } from '../../store/store.ts';

const STARTS: ReadonlySet<string> = new Set(['agent', 'workflow', 'ask']);
const LABEL_MAX = 60;

/** What became of the agents of a workflow's tree, of all levels, and of the calls of its script (docs/workflows.md#outcome). */
export interface WorkflowCounts {
  readonly succeeded: number;
  /** Agents that failed or were cut short, and calls that were refused. */
  readonly failed: number;
  /** Ended by a person, or by the end of the script. */
  readonly skipped: number;
  /** At work, or waiting. */
  readonly running: number;
  readonly failures: readonly WorkflowFailure[];
}

export interface WorkflowFailure {
  /** Null for a call that was refused. */
  readonly agent_id: string | null;
  readonly label: string;
  readonly phase: string | null;
  readonly reason: string;
}

export async function workflowCounts(store: Store, root_id: string): Promise<WorkflowCounts> {
  const agents = (await store.agents({ root_id })).filter(({ id }) => id !== root_id);
  const [failures, count]: [WorkflowFailure[], Record<'succeeded' | 'skipped' | 'running', number>] = [
    [],
    { succeeded: 0, skipped: 0, running: 0 },
  ];
  for (const agent of agents) {
    const { outcome, outcome_text } = outcomeOf(agent);
    // A person who skips an agent has decided so.
    if (outcome === 'stopped') count.skipped += 1;
    else if (!UNSUCCESSFUL.has(outcome)) count[outcome === 'done' ? 'succeeded' : 'running'] += 1;
    else
      failures.push({
        agent_id: agent.id,
        label: agent.config.task?.label ?? agent.name,
        phase: agent.config.task?.workflow?.phase ?? null,
        reason: failureOf(agent.state)?.error ?? outcome_text,
      });
  }
  const calls = new Map<string, CallPart>();
  for (const { kind, content } of await store.history(root_id)) {
    if (kind === 'assistant')
      for (const part of content.parts) if (part.type === 'call') calls.set(part.id, part);
    if (kind !== 'result' || content.status === 'ok' || !STARTS.has(content.name)) continue;
    const { label, prompt, phase } = (parsedObject(calls.get(content.call_id)?.input ?? '') ?? {}) as Partial<
      Record<'label' | 'prompt' | 'phase', string>
    >;
    failures.push({
      ...{ agent_id: null, label: label ?? prompt?.slice(0, LABEL_MAX) ?? '', phase: phase ?? null },
      reason: refusalOf(content.output),
    });
  }
  return { ...count, failed: failures.length, failures };
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
