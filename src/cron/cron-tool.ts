import * as z from 'zod';
import { modelFault } from '../kernel/toolsets/acts/task-options.ts';
import type { ToolsetTerms } from '../kernel/toolsets/toolset-terms.ts';
import type { Agent, AgentConfig } from '../records/agent/agent.ts';
import { nameOfTask } from '../records/agent/agent-name.ts';
import { CoppiceError } from '../records/coppice-error.ts';
import type { CronJob } from '../records/run/cron-job.ts';
import { cutText } from '../records/text/cut-text.ts';
import type { Tool } from '../records/tool.ts';
import { livingServers } from '../store/process-gone.ts';
import type { Store } from '../store/store.ts';
import { defineOwnTool } from '../tools/define-tool.ts';
import type { CanAsk } from './begin-run.ts';
import { jobRuns } from './job-runs.ts';
import { CronJobs } from './manage-jobs.ts';
import { describeSchedule, instantText } from './schedule/describe-schedule.ts';

/** Limits of the jobs of one tree, in addition to those of people's jobs. */
const INTERVAL_MIN_MS = 60_000;
const JOBS_MAX = 20;
const RUNS_MAX = 10;
const RESULT_MAX = 500;

const input = z.strictObject({
  action: z
    .enum(['add', 'list', 'show', 'update', 'run', 'runs', 'remove', 'enable', 'disable'])
    .describe('add, list, show, update, run (now), runs (history), remove, enable, disable'),
  name: z.string().nullish().describe('Name of the job; needed by every action but list'),
  cron: z.string().nullish().describe('When: a cron expression of five fields, e.g. "0 9 * * 1-5"'),
  tz: z.string().nullish().describe('IANA time zone of cron or at, e.g. "Europe/Berlin"'),
  every: z.string().nullish().describe('When: an interval, e.g. "10m", "2h", "1d"'),
  at: z.string().nullish().describe('When, once: "2030-01-31 09:00", "09:00" or "+5m"'),
  task: z.string().nullish().describe('What to do each time; the run knows nothing of this conversation'),
  session: z
    .enum(['isolated', 'main'])
    .nullish()
    .describe(
      'isolated (default): a fresh session each time, whose result is kept; main: the task is told to this conversation, as a reminder',
    ),
  deliver: z.array(z.string()).nullish().describe('Channels that get the result, e.g. ["telegram:42"]'),
  once: z.boolean().nullish().describe('Disable the job after it ran once'),
  cleanup: z.enum(['delete', 'keep', 'disable']).nullish().describe('What becomes of the session of a run'),
  overlap: z.enum(['skip', 'queue']).nullish().describe('When due while its run is at work; default skip'),
  timeoutSeconds: z
    .int()
    .min(0)
    .nullish()
    .describe('Max runtime of a run in seconds (0 = no limit of its own)'),
  model: z.string().min(1).nullish().describe('Model of its runs as provider/model'),
  thinking: z.enum(['off', 'low', 'medium', 'high']).nullish().describe('Thinking level of its runs'),
});

type Input = z.infer<typeof input>;
/** What is given of it. */
type Given = { readonly [Key in keyof Input]: Exclude<Input[Key], null> };

export interface CronToolOptions {
  readonly store: Store;
  readonly canAsk: CanAsk;
  readonly default_tz: string;
  /** Whether a server fires jobs; without one, models are not sent the tool. */
  readonly is_served: boolean;
  /** The models that agents may name, and the targets that they may deliver results to. */
  readonly terms: Pick<ToolsetTerms, 'profiles' | 'subagents' | 'deliver_to'>;
  /** Rejects if the model cannot be opened. */
  readonly checkModel: (name: string) => Promise<void>;
}

/** The tool `cron` for agents (docs/cron.md). An agent sees and changes only the jobs of its own tree, and their runs may do no more than the agent itself. */
export function createCronTool(options: CronToolOptions): Tool<Input> {
  const tool = defineOwnTool<Input>({
    name: 'cron',
    // Reading schedules needs no approval; changing them does.
    permission: { allowed: ['list', 'list *', 'show *', 'runs *'] },
    description:
      'Schedule tasks: add a job that runs at a time, at an interval or by a cron expression; list, change, run and remove jobs; see their runs.',
    input,
    subject(given) {
      const name = nameIn(given);
      return name === null ? given.action : `${given.action} ${name}`;
    },
    async run(asked, context) {
      const given = withTime(withoutEmpty(asked));
      const self = await options.store.agent(context.agent.id);
      if (self === null) throw new Error('this agent is not in the ledger any more');
      try {
        const answer: { note?: string } = await new CronCall(options, self, given).answer();
        const is_waiting =
          !/^(remove|disable)$/.test(given.action) && (await livingServers(options.store)).length === 0;
        const notes = [answer.note, is_waiting && UNSERVED].filter(Boolean).join(' ');
        return JSON.stringify(notes === '' ? answer : { ...answer, note: notes }, null, 1);
      } catch (error) {
        if (!(error instanceof CoppiceError)) throw error;
        const hint = error.hint === null ? '' : `. ${hintForModels(error.hint)}`;
        return { status: 'error', output: `cron: ${error.message} (${error.code})${hint}` };
      }
    },
  });
  return { ...tool, audience: () => options.is_served };
}

/** Models write null or an empty text for a field that they leave out. */
function withoutEmpty(given: Input): Given {
  const told = Object.entries(given).filter(([, value]) => value !== null && value !== '');
  return Object.fromEntries(told) as Given;
}

/** The name of the job; a new one without a name is called like its task. */
function nameIn({ action, name, task }: Input): string | null {
  if (name?.trim()) return name;
  return action === 'add' && task?.trim() ? nameOfTask(task, null) : null;
}

/** A time or an interval that was written where the expression stands. */
function withTime(given: Given): Given {
  const [, word = '', interval = ''] = /^(in|every)\s+(.*)/i.exec(given.cron ?? '') ?? [];
  if (word === '' || given.at != null || given.every != null) return given;
  const time = /in/i.test(word) ? { at: given.cron } : { every: interval };
  return { ...given, cron: undefined, ...time };
}

/** A hint that is written for the command line, as calls of this tool. */
function hintForModels(hint: string): string {
  const call = (_: string, action: string, name?: string, at?: string) =>
    `cron ${JSON.stringify({ action, name, at })}`;
  const said = hint
    .replace(/; stop it with .*$/, '')
    .replaceAll(/coppice cron (\w+)(?: ((?!--)[\w-]+))?(?: --at (\S+))?/g, call)
    .replaceAll(/--(\w+)/g, '$1');
  return said.includes('coppice') ? '' : said;
}

const UNSERVED =
  'Nothing runs jobs now, since no server works. Tell the user to start coppice serve, and to keep it running.';

const UNHEARD =
  'Nobody is told the result of its runs; the action runs shows it. A reminder in this conversation has session main.';

class CronCall {
  readonly #options: CronToolOptions;
  readonly #self: Agent;
  readonly #input: Given;
  readonly #jobs: CronJobs;
  readonly #notes: string[] = [];

  constructor(options: CronToolOptions, self: Agent, given: Given) {
    this.#options = options;
    this.#self = self;
    this.#input = given;
    const targets = [
      ...options.terms.deliver_to,
      ...(self.config.channel === undefined ? [] : [self.config.channel]),
    ];
    this.#jobs = new CronJobs({
      store: options.store,
      canAsk: options.canAsk,
      default_tz: options.default_tz,
      bounds: { least_ms: INTERVAL_MIN_MS, most: JOBS_MAX },
      note: (text) => this.#notes.push(text),
      checkTarget: (target) =>
        targets.includes(target)
          ? null
          : `results may not go there; ${targets.length === 0 ? 'no channel is configured' : `choose from: ${targets.join(', ')}`}`,
    });
  }

  async answer(): Promise<object> {
    switch (this.#input.action) {
      case 'list':
        return {
          jobs: (await this.#options.store.jobs({ root_id: this.#self.root_id })).map((job) =>
            this.#line(job),
          ),
        };
      case 'add':
        return this.#add();
      case 'update':
        return this.#update();
      case 'show':
        return this.#describe(await this.#job());
      case 'runs':
        return { runs: await this.#runs(await this.#job()) };
      case 'run': {
        const { name } = await this.#job();
        await this.#jobs.fire(await this.#job());
        return { status: 'queued', see: `cron ${JSON.stringify({ action: 'runs', name })}` };
      }
      case 'remove': {
        const job = await this.#job();
        await this.#jobs.remove(job);
        return { status: 'removed', name: job.name };
      }
      case 'enable':
      case 'disable':
        return this.#describe(await this.#jobs.enable(await this.#job(), this.#input.action === 'enable'));
    }
  }

  async #add(): Promise<object> {
    const { store } = this.#options;
    const { root_id, session_key, config } = this.#self;
    const tree = await store.tree(root_id);
    if (tree === null) throw new Error('this tree is not in the ledger any more');
    return this.#describe(
      await this.#jobs.add(this.#name(), this.#given(), {
        root_id,
        created_by: session_key,
        config: await this.#config(config),
        limits: tree.limits,
        placement: [],
      }),
    );
  }

  async #update(): Promise<object> {
    const job = await this.#job();
    return this.#describe(await this.#jobs.change(job, this.#given(), await this.#config(job.config)));
  }

  /** Configuration of the job's runs: the given one, so that they may do no more than the agent, but without the tool `cron`. */
  async #config({ task: _, channel: __, ...config }: AgentConfig): Promise<AgentConfig> {
    const { model, thinking } = this.#input;
    const unfit = modelFault(model, () => [this.#self.config.model], this.#options.terms);
    if (unfit !== null) throw new CoppiceError('E_REFUSED', `model: ${unfit}`);
    if (model != null) await this.#options.checkModel(model);
    return {
      ...config,
      ...(model == null ? {} : { model }),
      ...(thinking == null ? {} : { thinking }),
      tools: config.tools.filter((name) => name !== 'cron'),
    };
  }

  #given(): Parameters<CronJobs['change']>[1] {
    const {
      action: _,
      name: __,
      model: ___,
      thinking: ____,
      timeoutSeconds: timeout_s,
      ...given
    } = this.#input;
    return { ...given, timeout_s };
  }

  #name(): string {
    const name = nameIn(this.#input);
    if (name === null)
      throw new CoppiceError('E_INVALID_ARGUMENT', `${this.#input.action} needs the name of a job`);
    return name;
  }

  #job(): Promise<CronJob> {
    return this.#jobs.find(this.#name(), this.#self.root_id);
  }

  #line(job: CronJob): object {
    const tz = this.#options.default_tz;
    return {
      name: job.name,
      schedule: describeSchedule(job.schedule, tz),
      enabled: job.enabled,
      next: job.next_at === null ? null : instantText(job.next_at, tz),
      task: job.task,
    };
  }

  #describe(job: CronJob): object {
    const { session, deliver, once, cleanup, overlap, timeout_ms, config } = job;
    if (session === 'isolated' && deliver.length === 0) this.#notes.push(UNHEARD);
    return {
      ...this.#line(job),
      session,
      deliver,
      once,
      cleanup,
      overlap,
      timeoutSeconds: timeout_ms === null ? 0 : timeout_ms / 1000,
      model: config.model,
      thinking: config.thinking,
      ...(this.#notes.length === 0 ? {} : { note: this.#notes.join(' ') }),
    };
  }

  async #runs(job: CronJob): Promise<object[]> {
    const tz = this.#options.default_tz;
    return (await jobRuns(this.#options.store, job.id, RUNS_MAX)).map(({ fire, run }) => ({
      instant: instantText(fire.instant, tz),
      manual: fire.manual,
      status: run?.status ?? fire.outcome,
      ...(run?.error == null ? {} : { error: run.error }),
      ...(run?.result == null ? {} : { result: cutText(run.result, RESULT_MAX) }),
    }));
  }
}
