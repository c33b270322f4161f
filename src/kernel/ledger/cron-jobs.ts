import type { NewCronJob } from '../../records/run/cron-job.ts';
import type { FireRequest, FireVerdict } from '../../records/run/fire-request.ts';
import { createRoot } from './create-agents.ts';
import type { FactKeys, WaitingFire } from './facts.ts';
import { post } from './post-mail.ts';
import type { UnitOfWork } from './unit-of-work.ts';
import { markServed } from './unled.ts';

/** `definition`: the fields of the job without columns of their own, as JSON. */
export function createJob(
  unit: UnitOfWork,
  { id, name, root_id, enabled, created_at }: NewCronJob,
  definition: string,
  next_at: number | null,
  most: number | undefined,
): 'created' | 'there' | 'name' | 'limit' {
  const named = unit.facts.get('job_named', name);
  // The name may be this job's own: another process created it between the two reads.
  if (unit.facts.get('job', id) !== null || named === id) return 'there';
  if (named !== null) return 'name';
  if (most !== undefined && root_id !== null && unit.facts.get('enabled_jobs', root_id) >= most)
    return 'limit';
  unit.rows.insert('cron_jobs', {
    ...{ id, name, root_id, definition, enabled, next_at, version: 1 },
    ...{ planned_at: created_at, created_at, updated_at: created_at },
  });
  return 'created';
}

/** `drops_waiting`: whether its queued instant is removed. */
export function changeJob(
  unit: UnitOfWork,
  { id, name, enabled }: NewCronJob,
  definition: string,
  version: number,
  next_at: number | null,
  at: number,
  drops_waiting: boolean,
): 'changed' | 'name' | 'stale' {
  const named = unit.facts.get('job_named', name);
  if (named !== null && named !== id) return 'name';
  if (unit.facts.get('job', id)?.version !== version) return 'stale';
  const change = { name, definition, enabled, next_at, planned_at: at, updated_at: at };
  unit.rows.update('cron_jobs', { id, ...change, version: version + 1 });
  if (drops_waiting) dropWaiting(unit, id);
  return 'changed';
}

/** Also removes the job's queued instant. Returns whether the job existed. */
export function removeJob(unit: UnitOfWork, id: string): boolean {
  dropWaiting(unit, id);
  if (unit.facts.get('job', id) === null) return false;
  unit.rows.delete('cron_jobs', { id });
  return true;
}

function dropWaiting(unit: UnitOfWork, job_id: string): void {
  const waiting = unit.facts.get('waiting_fire', job_id);
  if (waiting !== null) unit.rows.delete('cron_fires', { job_id, ...waiting });
}

/** Key of the fact about an instant; all parts but the job's id have a fixed length. */
export function fireKey(job_id: string, { instant, manual }: WaitingFire): string {
  return `${String(instant).padStart(16, '0')}${manual ? 't' : 'f'}${job_id}`;
}

/** Facts that every fire needs, to be prefetched. */
export function fireFactKeys({ job_id, instant, manual, begin }: FireRequest): FactKeys {
  const job = { job: [job_id], waiting_fire: [job_id], job_at_work: [job_id] };
  const { root_id, to_id } = begin.mail;
  const to = { tree: [root_id], agent: [to_id], pending: [to_id] };
  return { ...job, ...to, fire: [fireKey(job_id, { instant, manual })] };
}

export function fire(unit: UnitOfWork, request: FireRequest): FireVerdict {
  const { job_id, instant, manual, missed, at, disable } = request;
  const job = unit.facts.get('job', job_id);
  if (job === null) return { outcome: 'stale' };
  const waiting = unit.facts.get('waiting_fire', job_id);
  if (request.waited) return fireWaiting(unit, request, waiting);
  if (!manual) {
    if (!job.enabled || job.version !== request.version || job.next_at !== request.next_at)
      return { outcome: 'stale' };
    const next_at = disable ? null : request.then_at;
    unit.rows.update('cron_jobs', { id: job_id, next_at, planned_at: at, enabled: !disable });
  }
  if (unit.facts.get('fire', fireKey(job_id, request)) !== null) return { outcome: 'stale' };
  const outcome = outcomeOf(unit, request, waiting);
  const run_id = outcome === 'fired' ? begin(unit, request) : null;
  unit.rows.insert('cron_fires', { job_id, instant, manual, outcome, missed, run_id, fired_at: at });
  return { outcome };
}

function fireWaiting(unit: UnitOfWork, request: FireRequest, waiting: WaitingFire | null): FireVerdict {
  const { job_id, instant, manual } = request;
  const same = waiting !== null && waiting.instant === instant && waiting.manual === manual;
  if (!same || unit.facts.get('job_at_work', job_id)) return { outcome: 'stale' };
  const outcome = request.begin.type === 'event' ? eventOutcome(unit, request.begin) : 'fired';
  const run_id = outcome === 'fired' ? begin(unit, request) : null;
  unit.rows.update('cron_fires', { job_id, instant, manual, outcome, run_id });
  return { outcome };
}

function outcomeOf(
  unit: UnitOfWork,
  { job_id, overlap, begin }: FireRequest,
  waiting: WaitingFire | null,
): 'fired' | 'queued' | 'skipped' {
  if (begin.type === 'event') return eventOutcome(unit, begin);
  if (waiting === null && !unit.facts.get('job_at_work', job_id)) return 'fired';
  return overlap === 'queue' && waiting === null ? 'queued' : 'skipped';
}

/** An event is skipped if nobody is there to get it. */
function eventOutcome(
  unit: UnitOfWork,
  { mail: { to_id, root_id } }: Pick<FireRequest['begin'], 'mail'>,
): 'fired' | 'skipped' {
  return unit.isAlive(to_id) && unit.tree(root_id)?.removal === null ? 'fired' : 'skipped';
}

/** Returns the id of the run, or null for an event. */
function begin(unit: UnitOfWork, { begin }: FireRequest): string | null {
  if (begin.type === 'event') {
    markServed(unit, begin.mail.root_id);
    post(unit, begin.mail, null);
    return null;
  }
  const { root, limits, placement, mail } = begin;
  createRoot(unit, root, limits, { served: true, placement });
  post(unit, mail, null);
  return root.run?.id ?? null;
}

/** Removes the given instants that are not queued and were fired before `before`; returns their number. */
export function removeFires(
  unit: UnitOfWork,
  instants: readonly (WaitingFire & { readonly job_id: string })[],
  before: number,
): number {
  const old = instants.filter((one) => {
    const fired = unit.facts.get('fire', fireKey(one.job_id, one));
    return fired !== null && fired.outcome !== 'queued' && fired.fired_at < before;
  });
  for (const { job_id, instant, manual } of old) unit.rows.delete('cron_fires', { job_id, instant, manual });
  return old.length;
}
