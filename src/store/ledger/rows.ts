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

export function agentOf(row: Row): Agent {
  return {
    id: row.id as string,
    root_id: row.root_id as string,
    parent_id: row.parent_id as string | null,
    name: row.name as string,
    session_key: row.session_key as string,
    origin: row.origin as Agent['origin'],
    depth: row.depth as number,
    config: parseColumn(row, 'config', 'model'),
    state: parseColumn(row, 'state', 'type'),
    last_seq: row.last_seq as number,
    forked_from:
      row.forked_from === null
        ? null
        : { agent_id: row.forked_from as string, seq: row.forked_seq as number },
    mail_count: row.mail_count as number,
    noticed: row.noticed as number,
    worker: row.worker as string | null,
    epoch: row.epoch as number,
    deaths: row.deaths as number,
    calls: row.calls as number,
    usage: usageOf(row),
    ...(row.budget === null ? {} : { budget: parseColumn<AgentBudget>(row, 'budget') }),
    doing: row.doing as string | null,
    reply: row.reply as string | null,
    ...(row.unread ? { unread: true } : {}),
    sent_this_turn: Boolean(row.sent_this_turn),
    created_at: row.created_at as number,
    updated_at: row.updated_at as number,
    ended_at: row.ended_at as number | null,
    reaped_at: row.reaped_at as number | null,
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
    root_id: row.root_id as string,
    limits: parseColumn(row, 'limits'),
    live: row.live as number,
    total: row.total as number,
    tokens: row.tokens as number,
    cost_usd: row.cost_usd as number,
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
    agent_id: row.agent_id as string,
    agent_name: row.name as string,
    root_id: row.root_id as string,
    seq: row.seq as number,
    at: row.at as number,
    result: parseColumn(row, 'content', 'call_id'),
    answer: row.answer === null ? null : parseColumn(row, 'answer', 'model'),
  };
}

export function runOf(row: Row): Run {
  const { number: _, cleaned_at: __, deliver: ___, ...rest } = row;
  return { ...rest, deliver: parseColumn(row, 'deliver') } as unknown as Run;
}

/** Fields of a job with columns of their own; the rest is one JSON text. */
const JOB_COLUMNS: ReadonlySet<string> = new Set<keyof CronJob>([
  ...(['id', 'name', 'root_id', 'enabled', 'version'] as const),
  ...(['next_at', 'planned_at', 'created_at', 'updated_at'] as const),
]);

type JobDefinition = Omit<NewCronJob, 'id' | 'name' | 'root_id' | 'enabled' | 'created_at'>;

export function definitionOf(job: NewCronJob): string {
  return JSON.stringify(Object.fromEntries(Object.entries(job).filter(([name]) => !JOB_COLUMNS.has(name))));
}

export function jobOf(row: Row): CronJob {
  return {
    ...parseColumn<JobDefinition>(row, 'definition'),
    id: row.id as string,
    name: row.name as string,
    root_id: row.root_id as string | null,
    enabled: Boolean(row.enabled),
    next_at: row.next_at as number | null,
    planned_at: row.planned_at as number,
    version: row.version as number,
    created_at: row.created_at as number,
    updated_at: row.updated_at as number,
  };
}

export function fireOf(row: Row): CronFire {
  return {
    job_id: row.job_id as string,
    instant: row.instant as number,
    manual: Boolean(row.manual),
    outcome: row.outcome as CronFire['outcome'],
    missed: row.missed as number,
    run_id: row.run_id as string | null,
    fired_at: row.fired_at as number,
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
  return {
    model: row.model as string,
    usage: usageOf(row),
    started_at: row.started_at as number,
    duration_ms: row.duration_ms as number,
  };
}

export function placedRequestOf(row: Row): PlacedRequest {
  const { agent_id, root_id = null } = row as { agent_id: string; root_id?: string | null };
  return { ...requestOf(row), place: Number(row.id), agent_id, root_id };
}
