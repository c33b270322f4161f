import { randomUUID } from 'node:crypto';
import { type AgentConfig, idleRoot } from '../records/agent/agent.ts';
import { framedName } from '../records/agent/agent-name.ts';
import { isTerminal } from '../records/agent/state.ts';
import type { NewMail } from '../records/conversation/mail.ts';
import type { CronJob, NewCronJob } from '../records/run/cron-job.ts';
import type { FireBegin, FireRequest, FireVerdict } from '../records/run/fire-request.ts';
import { runIsolated } from '../records/run/isolated-run.ts';
import { storable } from '../records/text/text.ts';
import { quoteStamps } from '../records/text/untrusted-text.ts';
import type { Store } from '../store/store.ts';
import { describeSchedule } from './schedule/describe-schedule.ts';

const MAIN_SESSION = 'agent:main:main';

/** Whether people can be asked for approval in the channel of a target. */
export type CanAsk = (target: string) => boolean;

type Plan = Pick<FireRequest, 'instant' | 'manual'> &
  Partial<Pick<FireRequest, 'waited' | 'missed' | 'then_at' | 'disable' | 'overlap'>>;

/** Fires an instant of the job. Resolves also to the root of what it has begun. */
export async function fireJob(
  options: { readonly store: Store; readonly canAsk: CanAsk },
  job: CronJob,
  now: number,
  plan: Plan,
): Promise<FireVerdict & { readonly root_id: string }> {
  const { id: job_id, version, next_at, overlap } = job;
  const begin = await prepareFire(options, job, plan.instant, now);
  const usual = { waited: false, missed: 0, then_at: null, disable: false, overlap };
  const fired = { ...usual, ...plan, job_id, version, next_at, at: now, begin };
  const root_id = begin.type === 'run' ? begin.root.agent.id : begin.mail.root_id;
  return { ...(await options.store.fire(fired)), root_id };
}

/** Returns what an instant of the job starts: a run, or an event in the main session. */
async function prepareFire(
  { store, canAsk }: { readonly store: Store; readonly canAsk: CanAsk },
  job: CronJob,
  instant: number,
  now: number,
): Promise<FireBegin> {
  if (job.session === 'isolated') return beginRun(job, now, canAsk);
  const root_id = job.root_id ?? (await mainSession(store)) ?? '';
  const who = job.created_by === 'you' ? '' : ', set by an agent';
  const mail: NewMail = {
    id: `cron-${job.id}-${instant}`,
    root_id,
    to_id: root_id,
    from_id: null,
    from_name: 'cron',
    kind: 'event',
    body: storable(`[Cron: ${framedName(job.name)}${who}] ${quoteStamps(job.task)}`),
    sent_at: now,
  };
  return { type: 'event', mail };
}

/** Id of the newest living conversation that a person began; null if there is none. */
async function mainSession(store: Store): Promise<string | null> {
  const found = await store.find(MAIN_SESSION);
  return found.find(({ state, parent_id }) => parent_id === null && !isTerminal(state.type))?.id ?? null;
}

/** Builds the tree of one isolated run of a job: a fresh session `cron:<job id>`, idle until its turn in the run queue comes (docs/cron.md). */
function beginRun(job: NewCronJob, at: number, canAsk: CanAsk): Extract<FireBegin, { readonly type: 'run' }> {
  const [id, run_id] = [randomUUID(), randomUUID()];
  const session_key = `cron:${job.id}`;
  const config = configOf(job, run_id, at, canAsk);
  const { run, mail } = runIsolated({
    id: run_id,
    source: 'cron',
    agent_id: id,
    root_id: id,
    session_key,
    requester: { id: null, key: job.created_by, name: `cron ${job.name}` },
    config,
    task: job.task,
    text: job.task,
    label: job.name,
    timeout_ms: job.timeout_ms,
    cleanup: job.cleanup,
    deliver: job.deliver,
    job_id: job.id,
    mail_id: randomUUID(),
    at,
  });
  const agent = idleRoot({ id, name: job.name, session_key, config, created_at: at, origin: 'cron' });
  const { limits, placement } = job;
  return { type: 'run', root: { agent, messages: [], run }, limits, placement, mail };
}

function configOf(job: NewCronJob, run_id: string, at: number, canAsk: CanAsk): AgentConfig {
  const { config, deliver, timeout_ms } = job;
  const channel = deliver.find(canAsk);
  return {
    ...config,
    tools: config.tools.filter((name) => name !== 'cron'),
    system: `${config.system}\n\n${notice(job)}`,
    ...(timeout_ms === null ? {} : { run_ms: Math.min(config.run_ms ?? timeout_ms, timeout_ms) }),
    ...(channel === undefined ? {} : { channel }),
    ...(config.workflow && { workflow: { ...config.workflow, seed: run_id, started_at: at, deliver } }),
    unattended: true,
    task: {
      kind: 'cron',
      label: job.name,
      run_id,
      cleanup: job.cleanup,
      output_schema: null,
      delegation: 0,
      worktree: null,
    },
  };
}

function notice({ name, schedule, deliver }: NewCronJob): string {
  const where = deliver.length === 0 ? 'kept in the history' : `delivered to ${deliver.join(', ')}`;
  return storable(
    `You were started by a timer: the scheduled job "${name}" (${describeSchedule(schedule, 'UTC')}). You have no earlier conversation, and nobody watches this one: do the task by yourself, ask nothing. Your last message is the result and is ${where}.`,
  );
}
