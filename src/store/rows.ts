import type { Agent, Tree } from '../core/agent.ts';
import type { Ask } from '../core/ask.ts';
import type { CronFire, CronJob, NewCronJob } from '../core/cron-job.ts';
import type { Delivery } from '../core/delivery.ts';
import type { Mail } from '../core/mail.ts';
import type { PlacedMessage } from '../core/message.ts';
import type { Run } from '../core/run.ts';
import type { KnownWorker, RequestRecord } from './store.ts';

/** Rows as `node:sqlite` gives them. */
export type Row = Record<string, string | number | null>;

export function agentOf(row: Row): Agent {
  return {
    id: row.id as string,
    root_id: row.root_id as string,
    parent_id: row.parent_id as string | null,
    name: row.name as string,
    session_key: row.session_key as string,
    origin: row.origin as Agent['origin'],
    depth: row.depth as number,
    config: JSON.parse(row.config as string),
    state: JSON.parse(row.state as string),
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
    doing: row.doing as string | null,
    reply: row.reply as string | null,
    sent_this_turn: Boolean(row.sent_this_turn),
    created_at: row.created_at as number,
    updated_at: row.updated_at as number,
    ended_at: row.ended_at as number | null,
    reaped_at: row.reaped_at as number | null,
  };
}

export function treeOf(row: Row): Tree {
  return {
    root_id: row.root_id as string,
    limits: JSON.parse(row.limits as string),
    live: row.live as number,
    total: row.total as number,
    tokens: row.tokens as number,
    cost_usd: row.cost_usd as number,
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
  return {
    agent_id: row.agent_id as string,
    seq: row.seq as number,
    at: row.at as number,
    kind: row.kind,
    content: JSON.parse(row.content as string),
  } as PlacedMessage;
}

export function runOf(row: Row): Run {
  const { number: _, cleaned_at: __, deliver, ...rest } = row;
  return { ...rest, deliver: JSON.parse(deliver as string) } as unknown as Run;
}

/** What of a job is one JSON text. */
type JobDefinition = Omit<NewCronJob, 'id' | 'name' | 'root_id' | 'enabled' | 'created_at'>;

export function definitionOf(job: NewCronJob): string {
  const {
    schedule,
    task,
    session,
    created_by,
    config,
    limits,
    placement,
    timeout_ms,
    deliver,
    once,
    cleanup,
    overlap,
  } = job;
  const definition: JobDefinition = {
    schedule,
    task,
    session,
    created_by,
    config,
    limits,
    placement,
    timeout_ms,
    deliver,
    once,
    cleanup,
    overlap,
  };
  return JSON.stringify(definition);
}

export function jobOf(row: Row): CronJob {
  return {
    ...(JSON.parse(row.definition as string) as JobDefinition),
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
    id: row.id as string,
    host: row.host as string,
    pid: row.pid as number,
    role: row.role as KnownWorker['role'],
    labels: JSON.parse(row.labels as string),
    draining: Boolean(row.draining),
    started_at: row.started_at as number,
    expires_at: row.expires_at as number,
  };
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
  return { ...row } as unknown as Mail;
}

export function requestOf(row: Row): RequestRecord {
  return {
    model: row.model as string,
    usage: usageOf(row),
    started_at: row.started_at as number,
    duration_ms: row.duration_ms as number,
  };
}
