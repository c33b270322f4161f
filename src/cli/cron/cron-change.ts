import { resolve } from 'node:path';
import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import type { Calls } from '../../serve/client/client.ts';
import { findRoot } from '../agents/find-agent.ts';
import { ask } from '../setup/ask-server.ts';
import { type RootOptions, requestOf } from '../setup/compose-config.ts';
import type { Context } from '../setup/context.ts';
import { tellUnserved } from '../setup/no-server-notices.ts';
import { printResult } from '../setup/output.ts';
import { readText } from '../setup/standard-input.ts';
import { argsOf, namedScript } from '../workflow/workflow-args.ts';
import { jobLine } from './job-line.ts';

/** `deliver` is false for `--no-deliver`. */
interface JobOptions extends RootOptions {
  readonly cron?: string;
  readonly tz?: string;
  readonly every?: string;
  readonly at?: string;
  readonly task?: string;
  readonly workflow?: string;
  readonly args?: string;
  readonly calls?: number;
  readonly session?: 'isolated' | 'main';
  readonly timeout?: number;
  readonly deliver?: readonly string[] | false;
  readonly once?: boolean;
  readonly cleanup?: 'delete' | 'keep' | 'disable';
  readonly overlap?: 'skip' | 'queue';
}

interface CronAddOptions extends JobOptions {
  readonly tree?: string;
}

interface CronUpdateOptions extends JobOptions {
  readonly name?: string;
}

type Job = Omit<DocumentOf<'coppice/cron-job/v1'>, 'removed'>;

/** Returns the fields of a job that the options give; undefined where not given. `allowed`: the rules that `--yes` is added to. */
async function wishOf(context: Context, options: JobOptions, allowed: readonly string[] = []) {
  const { cron, tz, every, at, session, once, cleanup, overlap, timeout, deliver } = options;
  const asked = requestOf(context, options, allowed);
  const task = options.task === undefined ? undefined : await readText(options.task, 'task', '--task');
  return {
    workflow: await workflowOf(context, options),
    ...{ cron, tz, every, at, task, session, once, cleanup, overlap, timeout_seconds: timeout },
    deliver: deliver === false ? [] : deliver && [...deliver],
    ...asked,
    model: context.server === null ? absoluteModel(asked.model) : asked.model,
  };
}

async function workflowOf(context: Context, { workflow, args, calls }: JobOptions) {
  if (workflow === undefined && args === undefined && calls === undefined) return undefined;
  const given = argsOf(args);
  return {
    ...(workflow === undefined ? {} : { script: (await namedScript(context, workflow)).source }),
    ...(given === undefined ? {} : { args: JSON.parse(given) as unknown }),
    calls,
  };
}

/** Makes the path of a script absolute: the server may run in another folder. */
function absoluteModel(model: string | undefined): string | undefined {
  const [, file] = /^scripted:(.+)$/s.exec(model ?? '') ?? [];
  return file === undefined ? model : `scripted:${resolve(file)}`;
}

/** `coppice cron add NAME`. */
export async function cronAdd(context: Context, name: string, options: CronAddOptions): Promise<number> {
  const { task, workflow, args, calls } = options;
  const is_aimless = [task, workflow, args, calls].every((one) => one === undefined);
  if (name.trim() === '' || is_aimless) {
    const what = is_aimless ? 'a job needs a task' : 'the name of the scheduled task is empty';
    const hint =
      'What comes first is its name; what it does is --task: coppice cron add NAME --every 1d --task "…"';
    throw new CoppiceError('E_USAGE', what, { hint });
  }
  return ask(context, async (asked) => {
    const wish = await wishOf(context, options);
    const named = options.session === 'main' && options.tree !== undefined;
    const tree = named ? await findRoot(context, asked, options.tree) : undefined;
    return report(context, asked, await asked.addJob({ name, ...wish, tree }), 'scheduled');
  });
}

/** `coppice cron update JOB`: options left out keep their value. */
export function cronUpdate(context: Context, text: string, options: CronUpdateOptions): Promise<number> {
  return ask(context, async (asked) => {
    const { id, allow } = await asked.job(text);
    const wish = await wishOf(context, options, allow);
    return report(context, asked, await asked.updateJob(id, { ...wish, name: options.name }), 'changed');
  });
}

/** `coppice cron rm JOB`. */
export function cronRemove(context: Context, text: string): Promise<number> {
  return ask(context, async (asked) => {
    const removed = await asked.removeJob(text);
    return printResult(context, removed, () => [
      `removed ${removed.name}; ${context.hint('its runs stay: coppice subagent history')}`,
    ]);
  });
}

/** `coppice cron enable | disable JOB`. */
export function cronEnable(context: Context, text: string, enabled: boolean): Promise<number> {
  return ask(context, async (asked) =>
    report(context, asked, await asked.updateJob(text, { enabled }), enabled ? 'enabled' : 'disabled'),
  );
}

async function report(context: Context, asked: Calls, job: Job, verb: string): Promise<number> {
  const code = printResult(context, job, () => [`${verb} ${jobLine(job)}`]);
  if (!context.json && job.next_at !== null) await tellUnserved(context, asked);
  return code;
}
