import { resolve } from 'node:path';
import { CronJobs } from '../../cron/manage-jobs.ts';
import { localZone } from '../../cron/schedule/describe-schedule.ts';
import type { ToolsetTerms } from '../../kernel/toolsets/toolset-terms.ts';
import type { ComposedRoot } from '../../mcp/mcp-options.ts';
import { commandEnvironment } from '../../processes/starting/unattended.ts';
import { clean } from '../../render/clean.ts';
import { ledgerOrders, type Orders } from '../../runtime/orders/ledger-orders.ts';
import type { RuntimeFace } from '../../runtime/runtime-face.ts';
import { AgentPrompts } from '../../serve/api/agent-prompts.ts';
import type { ApiSources, RootRequest } from '../../serve/api/route.ts';
import { rulesFile } from '../../settings/folders.ts';
import type { Store } from '../../store/store.ts';
import { placementOf } from '../../trees/leaders/placement.ts';
import { TreeTimelines } from '../../trees/timeline/tree-timelines.ts';
import { TreeActivity } from '../../trees/usage/tree-activity.ts';
import { UsageRollUp } from '../../trees/usage/usage-roll-up.ts';
import { canAsk } from './channels-config.ts';
import type { Context } from './context.ts';
import { targetProblem } from './open-channels.ts';

interface Parts {
  readonly store: Store;
  readonly runtime: RuntimeFace;
  readonly terms: () => Promise<ToolsetTerms>;
  readonly onEntered: () => void;
  /** Receives a sentence on a wall-clock time that does not exist or occurs twice. */
  readonly note?: (text: string) => void;
}

/** Sources for the routes of the API, by the configuration of this process. */
export function sourcesOf(context: Context, { store, runtime, terms, onEntered, note }: Parts): ApiSources {
  return {
    store,
    runtime,
    jobs: new CronJobs({
      store,
      canAsk,
      default_tz: localZone(),
      checkTarget: (target) => targetProblem(context.loaded.configuration.channels ?? {}, target),
      ...(note === undefined ? {} : { note }),
    }),
    timelines: new TreeTimelines(store),
    unled: context,
    rules_file: rulesFile(context.env),
    alerts: {
      file: context.loaded.file,
      rules: (context.loaded.configuration.alerts ?? []).map(
        ({ when, after_minutes = 0, usd = null, to }) => ({
          ...{ when, to },
          ...{ after_minutes: when === 'waits-for-person' ? after_minutes : null, usd },
        }),
      ),
    },
    usage: new UsageRollUp(store),
    activity: new TreeActivity(store),
    prompts: new AgentPrompts(store),
    searches: context.loaded.configuration.server?.search !== false,
    cwd: resolve(context.options.cwd ?? '.'),
    merge_test: mergeTest(context),
    compose: (request) => placedRoot(context, store, terms, request),
    profiles: async () => (await terms()).profiles,
    onEntered,
  };
}

/** The test that decides whether a merge stays, by the configuration of this process. */
export function mergeTest({ loaded }: Context): ApiSources['merge_test'] {
  const { merge: { test: command = null, timeout_seconds } = {}, env_allow = [] } = loaded.configuration;
  return { command, timeout_seconds, env: commandEnvironment(env_allow) };
}

/** Sources for a command that reads the ledger itself. */
export function apiSources(context: Context, store: Store): ApiSources {
  let known: Promise<ToolsetTerms> | undefined;
  // Composed once, and only if needed, because composing prints notices.
  const terms = (): Promise<ToolsetTerms> => {
    known ??= import('./compose-config.ts').then(({ composeTerms }) => composeTerms(context));
    return known;
  };
  return sourcesOf(context, {
    store,
    runtime: ledgerRuntime(context, store, terms),
    terms,
    onEntered: () => undefined,
    note: (text) => void process.stderr.write(`${clean(text)}\n`),
  });
}

/** Opens a runtime only for calls that need models and tools. */
function ledgerRuntime(context: Context, store: Store, terms: Parts['terms']): RuntimeFace {
  const opened = async <T>(work: (runtime: RuntimeFace) => Promise<T>): Promise<T> => {
    const { composeRuntime } = await import('./compose-runtime.ts');
    const runtime = await composeRuntime(context, store, await terms());
    return work(runtime).finally(() => runtime.close());
  };
  const face: Orders & Pick<RuntimeFace, 'checked' | 'enter'> = {
    ...ledgerOrders(store, { rules_file: rulesFile(context.env) }),
    checked: (config, limits) => opened((runtime) => runtime.checked(config, limits)),
    enter: (options, placement) => opened((runtime) => runtime.enter(options, placement)),
  };
  return face as RuntimeFace;
}

/** Composes the configuration, limits and placement of a root that a program requests. */
export async function placedRoot(
  context: Context,
  store: Store,
  termsOf: Parts['terms'],
  { label = [], anywhere = false, ...asked }: RootRequest,
): Promise<ComposedRoot> {
  const [{ composeRoot, delivering }, terms] = [await import('./compose-config.ts'), await termsOf()];
  return {
    ...(await delivering(context, composeRoot(context, terms, asked), asked.deliver)),
    placement: placementOf(store, { label, anywhere }, context.env),
  };
}
