import { resolve } from 'node:path';
import type { JobInput } from '../../cron/cron-jobs.ts';
import type { AgentConfig } from '../../records/agent/agent.ts';
import { DEFAULT_LIMITS, type Limits } from '../../records/agent/limits.ts';
import type { CronJob } from '../../records/run/cron-job.ts';
import type { Store } from '../../store/store.ts';
import { printJson } from '../agents/agent-json.ts';
import { findRoot } from '../agents/find-agent.ts';
import { chooseModel } from '../run/choose-model.ts';
import { readText } from '../run/read-text.ts';
import { composeConfig, composeLimits, composeRuntime, composeTerms } from '../setup/compose.ts';
import { type Context, withStore } from '../setup/context.ts';
import { tellUnserved } from '../worker/tell-unserved.ts';
import { cronJobsOf } from './cron-jobs-of.ts';
import { jobJson } from './job-json.ts';
import { jobLine } from './job-line.ts';

/** What `--deliver` and `--once` come as; false where `--no-…` was said. */
interface CronTerms {
  readonly cron?: string;
  readonly tz?: string;
  readonly every?: string;
  readonly at?: string;
  readonly task?: string;
  readonly session?: 'isolated' | 'main';
  readonly thinking?: AgentConfig['thinking'];
  readonly timeout?: number;
  readonly profile?: string;
  readonly toolset?: readonly string[];
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  readonly yes?: boolean;
  readonly deliver?: readonly string[] | false;
  readonly once?: boolean;
  readonly cleanup?: 'delete' | 'keep' | 'disable';
  readonly overlap?: 'skip' | 'queue';
}

export interface CronAddOptions extends CronTerms {
  readonly tree?: string;
}

export interface CronUpdateOptions extends CronTerms {
  readonly name?: string;
}

async function wishOf(options: CronTerms): Promise<JobInput> {
  const { cron, tz, every, at, session, once, cleanup, overlap, timeout, deliver } = options;
  const task = options.task === undefined ? undefined : await readText(options.task, 'task', '--task');
  const targets = deliver === false ? [] : deliver;
  return { cron, tz, every, at, task, session, once, cleanup, overlap, timeout_s: timeout, deliver: targets };
}

/** `coppice cron add NAME`. */
export function cronAdd(context: Context, name: string, options: CronAddOptions): Promise<number> {
  return withStore(context, async (store) => {
    const wish = await wishOf(options);
    const limits = composeLimits(context, {}, options.profile);
    const config = await configOf(context, store, options, limits);
    const tree = options.session === 'main' && options.tree !== undefined;
    const job = await cronJobsOf(context, store).add(name, wish, {
      root_id: tree ? (await findRoot(context, store, options.tree)).id : null,
      created_by: 'you',
      config,
      placement: [],
      limits: { ...DEFAULT_LIMITS, ...limits },
    });
    return told(context, store, job, 'scheduled');
  });
}

/** Settled now, so that a run does not fail for what could be known today: its folder, its tools, its model. */
async function configOf(
  context: Context,
  store: Store,
  options: CronTerms,
  limits: Partial<Limits>,
): Promise<AgentConfig> {
  const terms = composeTerms(context);
  const { profile, thinking, toolset, allow = [], deny = [], yes } = options;
  const of_profile = profile === undefined ? null : (terms.profiles.get(profile)?.model ?? null);
  const model = anywhere(chooseModel(context, of_profile));
  const config = composeConfig(
    context,
    terms,
    model,
    { allow, deny, yes: yes === true },
    {
      ...(thinking === undefined ? {} : { thinking }),
      ...(profile === undefined ? {} : { profile }),
      ...(toolset === undefined ? {} : { toolsets: toolset }),
    },
  );
  const runtime = await composeRuntime(context, store, terms);
  try {
    return await runtime.checked(config, limits);
  } finally {
    await runtime.close();
  }
}

/** Whoever serves may do so in another folder. */
function anywhere(model: string): string {
  const [, file] = /^scripted:(.+)$/s.exec(model) ?? [];
  return file === undefined ? model : `scripted:${resolve(file)}`;
}

/** `coppice cron update JOB`: what is not named stays. */
export function cronUpdate(context: Context, text: string, options: CronUpdateOptions): Promise<number> {
  return withStore(context, async (store) => {
    const jobs = cronJobsOf(context, store);
    const job = await jobs.find(text);
    const wish = { ...(await wishOf(options)), name: options.name };
    const config = await changedConfig(context, store, options, job);
    return told(context, store, await jobs.change(job, wish, config), 'changed');
  });
}

/** A profile or toolsets bring tools, prompt and limits of their own; folder, rules and model stay as they were unless they are named. */
async function changedConfig(
  context: Context,
  store: Store,
  options: CronTerms,
  { config: before, limits }: CronJob,
): Promise<AgentConfig> {
  const { profile, toolset, thinking, allow, deny, yes } = options;
  const { model, cwd } = context.options;
  const named = [profile, toolset, thinking, allow, deny, yes, model, cwd];
  if (named.every((one) => one === undefined)) return before;
  const set_up = profile !== undefined || toolset !== undefined;
  const own = set_up
    ? await configOf(withModel(context, model ?? before.model), store, options, limits)
    : before;
  const rules = before.permissions.cli;
  const allowed = allow ?? rules.allow;
  const cli = { ...rules, allow: yes === true ? ['*', ...allowed] : allowed, deny: deny ?? rules.deny };
  const changed = {
    ...own,
    cwd: cwd === undefined ? before.cwd : resolve(cwd),
    permissions: { ...own.permissions, cli },
    ...(model === undefined ? {} : { model: anywhere(model) }),
    ...(thinking === undefined ? {} : { thinking }),
  };
  const runtime = await composeRuntime(context, store, composeTerms(context));
  try {
    return await runtime.checked(changed, limits);
  } finally {
    await runtime.close();
  }
}

function withModel(context: Context, model: string): Context {
  return { ...context, options: { ...context.options, model } };
}

/** `coppice cron rm JOB`. */
export function cronRemove(context: Context, text: string): Promise<number> {
  return withStore(context, async (store) => {
    const jobs = cronJobsOf(context, store);
    const job = await jobs.find(text);
    await jobs.remove(job);
    if (context.json) printJson({ schema: 'coppice/cron-job/v1', ...jobJson(job), removed: true });
    else process.stdout.write(`removed ${job.name}; its runs stay: coppice subagent history\n`);
    return 0;
  });
}

/** `coppice cron enable | disable JOB`. */
export function cronEnable(context: Context, text: string, enabled: boolean): Promise<number> {
  return withStore(context, async (store) => {
    const jobs = cronJobsOf(context, store);
    const job = await jobs.enable(await jobs.find(text), enabled);
    return told(context, store, job, enabled ? 'enabled' : 'disabled');
  });
}

async function told(context: Context, store: Store, job: CronJob, verb: string): Promise<number> {
  if (context.json) {
    printJson({ schema: 'coppice/cron-job/v1', ...jobJson(job) });
    return 0;
  }
  process.stdout.write(`${verb} ${jobLine(job)}\n`);
  if (job.next_at !== null) await tellUnserved(store);
  return 0;
}
