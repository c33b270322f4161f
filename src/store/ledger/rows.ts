import type { RequestRecord } from '../../kernel/step.ts';
import type { Agent, Tree } from '../../records/agent/agent.ts';
import { type AgentBudget, optionalTreeSums } from '../../records/agent/budget.ts';
import type { Ask } from '../../records/conversation/ask.ts';
import { oldMailFacts, withOldFacts } from '../../records/conversation/facts/old-facts.ts';
import type { Mail } from '../../records/conversation/mail.ts';
import type { PlacedMessage } from '../../records/conversation/message.ts';
import type { CronFire, CronJob, NewCronJob } from '../../records/run/cron-job.ts';
import type { Delivery } from '../../records/run/delivery.ts';
import type { Run } from '../../records/run/run.ts';
import type { PlacedRequest } from '../load-ledger.ts';
import type { FileChange } from '../read-records.ts';
import type { AgentMark, KnownWorker } from '../store.ts';
import { StoreError } from '../store-error.ts';

/** Rows as `node:sqlite` gives them. */
export type Row = Record<string, string | number | null>;

/** Parses a JSON column that holds an object or a list; `needs`: a text field that it must have. Throws a `StoreError` that names the damaged row. */
export function parseColumn<T>(row: Row, column: string, needs?: string): T {
  try {
    const value = JSON.parse(row[column] as string) as Record<string, unknown>;
    if (
      typeof value === 'object' &&
      value !== null &&
      (needs === undefined || typeof value[needs] === 'string')
    )
      return value as T;
  } catch {
    // Reported below.
  }
  const place = row.seq === undefined ? '' : `, message ${row.seq}`;
  const id = row.id ?? row.agent_id ?? row.root_id;
  throw new StoreError(
    'E_DB_CORRUPT',
    `the ledger is damaged: "${column}" of the row ${id}${place} cannot be read: restore a backup, or remove what it belongs to`,
  );
}

/** Columns that a record has as they are. */
function columns<Name extends string>(row: Row, names: readonly Name[]): Readonly<Record<Name, never>> {
  const found: Partial<Record<Name, unknown>> = {};
  for (const name of names) found[name] = row[name];
  return found as Record<Name, never>;
}

const OF_AGENT = [
  ...(['id', 'root_id', 'parent_id', 'name', 'session_key', 'origin', 'depth', 'last_seq'] as const),
  ...(['mail_count', 'noticed', 'worker', 'epoch', 'deaths', 'calls', 'doing', 'reply'] as const),
  ...(['created_at', 'updated_at', 'ended_at', 'reaped_at'] as const),
];

export function agentOf(row: Row): Agent {
  return {
    ...columns(row, OF_AGENT),
    config: parseColumn(row, 'config', 'model'),
    state: parseColumn(row, 'state', 'type'),
    forked_from:
      row.forked_from === null
        ? null
        : { agent_id: row.forked_from as string, seq: row.forked_seq as number },
    usage: usageOf(row),
    ...(row.budget === null ? {} : { budget: parseColumn<AgentBudget>(row, 'budget') }),
    ...(row.unread ? { unread: true } : {}),
    sent_this_turn: Boolean(row.sent_this_turn),
    ...(row.was === null || row.was === undefined ? {} : { was: parseColumn<readonly string[]>(row, 'was') }),
  };
}

export function markOf(row: Row): AgentMark {
  const { status, epoch, noticed, calls, updated_at, reaped_at, ...rest } = row;
  const version = [status, epoch, rest.last_seq, rest.mail_count, noticed, calls, updated_at, reaped_at];
  return { ...rest, version: `${rest.worker} ${version.join(' ')}` } as unknown as AgentMark;
}

export function treeOf(row: Row): Tree {
  return {
    ...columns(row, ['root_id', 'live', 'total', 'tokens', 'cost_usd']),
    limits: parseColumn(row, 'limits'),
    ...(row.cut_of === null ? {} : { cut: parseColumn<NonNullable<Tree['cut']>>(row, 'cut') }),
    ...optionalTreeSums({
      cached_tokens: Number(row.cached_tokens),
      reserved_tokens: Number(row.reserved_tokens),
      reserved_usd: Number(row.reserved_usd),
    }),
  };
}

function usageOf(row: Row): Agent['usage'] {
  return {
    input: row.input_tokens as number,
    output: row.output_tokens as number,
    cached: row.cached_tokens as number,
    reasoning: row.reasoning_tokens as number,
    cost_usd: row.cost_usd as number | null,
  };
}

export function messageOf(row: Row): PlacedMessage {
  const { agent_id, seq, at, kind } = row;
  return withOldFacts({ agent_id, seq, at, kind, content: parseColumn(row, 'content') } as PlacedMessage);
}

export function fileChangeOf(row: Row): FileChange {
  return {
    ...columns(row, ['agent_id', 'root_id', 'seq', 'at']),
    agent_name: row.name as string,
    result: parseColumn(row, 'content', 'call_id'),
    answer: row.answer === null ? null : parseColumn(row, 'answer', 'model'),
  };
}

export function runOf(row: Row): Run {
  const { number: _, cleaned_at: __, deliver: ___, ...rest } = row;
  return { ...rest, deliver: parseColumn(row, 'deliver') } as unknown as Run;
}

/** Fields of a job with columns of their own; the rest is one JSON text. */
const OF_JOB = [
  ...(['id', 'name', 'root_id', 'version', 'next_at', 'planned_at', 'created_at', 'updated_at'] as const),
];

type JobDefinition = Omit<NewCronJob, 'id' | 'name' | 'root_id' | 'enabled' | 'created_at'>;

export function definitionOf(job: NewCronJob): string {
  const own: ReadonlySet<string> = new Set([...OF_JOB, 'enabled']);
  return JSON.stringify(Object.fromEntries(Object.entries(job).filter(([name]) => !own.has(name))));
}

export function jobOf(row: Row): CronJob {
  return {
    ...parseColumn<JobDefinition>(row, 'definition'),
    ...columns(row, OF_JOB),
    enabled: Boolean(row.enabled),
  };
}

export function fireOf(row: Row): CronFire {
  return {
    ...columns(row, ['job_id', 'instant', 'outcome', 'missed', 'run_id', 'fired_at']),
    manual: Boolean(row.manual),
  };
}

export function workerOf(row: Row): KnownWorker {
  return {
    ...row,
    labels: parseColumn(row, 'labels'),
    draining: Boolean(row.draining),
  } as unknown as KnownWorker;
}

export function deliveryOf(row: Row): Delivery {
  const { channel: _, worker: __, number: ___, ...rest } = row;
  return rest as unknown as Delivery;
}

export function askOf(row: Row): Ask {
  const { number: _, ...rest } = row;
  return rest as unknown as Ask;
}

export function mailOf(row: Row): Mail {
  const { images, did, facts, sent_seq: _, ...rest } = row;
  const letter = rest as unknown as Mail;
  return {
    ...letter,
    ...(facts === null ? oldMailFacts(letter) : parseColumn<Partial<Mail>>(row, 'facts')),
    ...(images === null ? {} : { images: JSON.parse(images as string) }),
    ...(did === null ? {} : { did: did as string }),
  };
}

export function requestOf(row: Row): RequestRecord {
  return { ...columns(row, ['model', 'started_at', 'duration_ms']), usage: usageOf(row) };
}

export function placedRequestOf(row: Row): PlacedRequest {
  const { id, root_id = null } = row;
  return { ...requestOf(row), ...columns(row, ['agent_id']), place: Number(id), root_id: root_id as string };
}
