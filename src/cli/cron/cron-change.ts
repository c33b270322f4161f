import { resolve } from 'node:path';
import type { JobInput } from '../../cron/cron-jobs.ts';
import { jobLine } from '../../cron/schedule/describe-schedule.ts';
import { jobJson } from '../../documents/job-json.ts';
import type { ToolsetTerms } from '../../kernel/toolsets/toolset-terms.ts';
import type { AgentConfig } from '../../records/agent/agent.ts';
import { DEFAULT_LIMITS, type Limits } from '../../records/agent/limits.ts';
import type { CronJob } from '../../records/run/cron-job.ts';
import { tellUnserved } from '../../serve/leading/leaders.ts';
import type { Store } from '../../store/store.ts';
import { findRoot } from '../agents/find-agent.ts';
import {
  chooseModel,
  composeConfig,
  composeLimits,
  composeTerms,
  namedProfile,
  type RootOptions,
} from '../setup/compose-config.ts';
import { composeRuntime } from '../setup/compose-runtime.ts';
import { type Context, withStore } from '../setup/context.ts';
import { printJson } from '../setup/output.ts';
import { readText } from '../setup/standard-input.ts';
import { cronJobsOf } from './cron-jobs-of.ts';

/** `deliver` is false for `--no-deliver`. */
interface JobOptions extends RootOptions {
  readonly cron?: string;
  readonly tz?: string;
  readonly every?: string;
  readonly at?: string;
  readonly task?: string;
  readonly session?: 'isolated' | 'main';
  readonly timeout?: number;
  readonly deliver?: readonly string[] | false;
  readonly once?: boolean;
  readonly cleanup?: 'delete' | 'keep' | 'disable';
  readonly overlap?: 'skip' | 'queue';
}

export interface CronAddOptions extends JobOptions {
  readonly tree?: string;
}

export interface CronUpdateOptions extends JobOptions {
  readonly name?: string;
}

async function wishOf(options: JobOptions): Promise<JobInput> {
  const { cron, tz, every, at, session, once, cleanup, overlap, timeout, deliver } = options;
  const task = options.task === undefined ? undefined : await readText(options.task, 'task', '--task');
  const targets = deliver === false ? [] : deliver;
  return { cron, tz, every, at, task, session, once, cleanup, overlap, timeout_s: timeout, deliver: targets };
}

/** `coppice cron add NAME`. */
export function cronAdd(context: Context, name: string, options: CronAddOptions): Promise<number> {
  return withStore(context, async (store) => {
    const wish = await wishOf(options);
    const jobs = cronJobsOf(context, store);
    // First what stands on the command line: whoever has no key yet still reads what is wrong with it.
    await jobs.check(name, wish);
    const limits = composeLimits(context, {}, options.profile);
    const config = await configOf(context, store, options, limits);
    const tree = options.session === 'main' && options.tree !== undefined;
    const job = await jobs.add(name, wish, {
      root_id: tree ? (await findRoot(context, store, options.tree)).id : null,
      created_by: 'you',
      config,
      placement: [],
      limits: { ...DEFAULT_LIMITS, ...limits },
    });
    return report(context, store, job, 'scheduled');
  });
}

/** Checked now, so that no run fails for a folder, tool or model that is wrong already. */
async function configOf(
  context: Context,
  store: Store,
  options: JobOptions,
  limits: Partial<Limits>,
): Promise<AgentConfig> {
  const terms = composeTerms(context);
  const model = absoluteModel(chooseModel(context, namedProfile(terms, options.profile)));
  return checked(context, store, terms, composeConfig(context, terms, model, options), limits);
}

async function checked(
  context: Context,
  store: Store,
  terms: ToolsetTerms,
  config: AgentConfig,
  limits: Partial<Limits>,
): Promise<AgentConfig> {
  const runtime = await composeRuntime(context, store, terms);
  try {
    return await runtime.checked(config, limits);
  } finally {
    await runtime.close();
  }
}

/** The path of a script made absolute: the server may run in another folder. */
function absoluteModel(model: string): string {
  const [, file] = /^scripted:(.+)$/s.exec(model) ?? [];
  return file === undefined ? model : `scripted:${resolve(file)}`;
}

/** `coppice cron update JOB`: options left out keep their value. */
export function cronUpdate(context: Context, text: string, options: CronUpdateOptions): Promise<number> {
  return withStore(context, async (store) => {
    const jobs = cronJobsOf(context, store);
    const job = await jobs.find(text);
    const wish = { ...(await wishOf(options)), name: options.name };
    const config = await changedConfig(context, store, options, job);
    return report(context, store, await jobs.change(job, wish, config), 'changed');
  });
}

/** A profile or toolset brings its own tools, prompt and limits; folder, rules and model stay unless they are given. */
async function changedConfig(
  context: Context,
  store: Store,
  options: JobOptions,
  { config: before, limits }: CronJob,
): Promise<AgentConfig> {
  const { profile, toolset, thinking, allow, deny, yes } = options;
  const { model, cwd } = context.options;
  const named = [profile, toolset, thinking, allow, deny, yes, model, cwd];
  if (named.every((one) => one === undefined)) return before;
  const replaced = profile !== undefined || toolset !== undefined;
  const own = replaced
    ? await configOf(withModel(context, model ?? before.model), store, options, limits)
    : before;
  const rules = before.permissions.cli;
  const allowed = allow ?? rules.allow;
  const cli = { ...rules, allow: yes === true ? ['*', ...allowed] : allowed, deny: deny ?? rules.deny };
  const changed = {
    ...own,
    cwd: cwd === undefined ? before.cwd : resolve(cwd),
    permissions: { ...own.permissions, cli },
    ...(model === undefined ? {} : { model: absoluteModel(model) }),
    ...(thinking === undefined ? {} : { thinking }),
  };
  return checked(context, store, composeTerms(context), changed, limits);
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
    return report(context, store, job, enabled ? 'enabled' : 'disabled');
  });
}

async function report(context: Context, store: Store, job: CronJob, verb: string): Promise<number> {
  if (context.json) {
    printJson({ schema: 'coppice/cron-job/v1', ...jobJson(job) });
    return 0;
  }
  process.stdout.write(`${verb} ${jobLine(job)}\n`);
  if (job.next_at !== null) await tellUnserved(store);
  return 0;
}
