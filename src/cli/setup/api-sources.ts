import { randomUUID } from 'node:crypto';
import { CronJobs } from '../../cron/cron-jobs.ts';
import { localZone } from '../../cron/schedule/describe-schedule.ts';
import type { ToolsetTerms } from '../../kernel/toolsets/toolset-terms.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { storable } from '../../records/text/text.ts';
import { clean } from '../../render/clean.ts';
import type { RuntimeFace } from '../../runtime/runtime-face.ts';
import { AgentPrompts } from '../../serve/api/agent-prompts.ts';
import type { ApiSources, ComposedRoot, RootRequest } from '../../serve/api/route.ts';
import { placementOf } from '../../serve/leading/placement.ts';
import { TreeTimelines } from '../../serve/timeline/tree-timelines.ts';
import { UsageRollUp } from '../../serve/usage/usage-roll-up.ts';
import type { Store } from '../../store/store.ts';
import { canAsk } from './channels-config.ts';
import { chooseModel, composeConfig, composeLimits, composeTerms, namedProfile } from './compose-config.ts';
import { composeRuntime } from './compose-runtime.ts';
import type { Context } from './context.ts';
import { targetProblem } from './open-channels.ts';

interface Parts {
  readonly store: Store;
  readonly runtime: RuntimeFace;
  readonly terms: () => ToolsetTerms;
  readonly onEntered: () => void;
  /** Receives a sentence on a wall time that does not exist or comes twice. */
  readonly note?: (text: string) => void;
}

/** What the routes of the API work on, by the configuration of this process. */
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
    usage: new UsageRollUp(store),
    prompts: new AgentPrompts(store),
    compose: (request) => composeRoot(context, store, terms(), request),
    onEntered,
  };
}

/** The same for a command that asks the ledger itself. */
export function apiSources(context: Context, store: Store): ApiSources {
  let known: ToolsetTerms | undefined;
  // Composing them prints notices.
  const terms = (): ToolsetTerms => {
    known ??= composeTerms(context);
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

/** Orders of a person as mail in the ledger, for the process that leads the agent; a runtime is opened only for what needs models and tools. */
function ledgerRuntime(context: Context, store: Store, terms: Parts['terms']): RuntimeFace {
  const opened = async <T>(work: (runtime: RuntimeFace) => Promise<T>): Promise<T> => {
    const runtime = await composeRuntime(context, store, terms());
    return work(runtime).finally(() => runtime.close());
  };
  const face: Pick<RuntimeFace, 'send' | 'kill' | 'answer' | 'checked' | 'enter'> = {
    checked: (config, limits) => opened((runtime) => runtime.checked(config, limits)),
    enter: (options, placement) => opened((runtime) => runtime.enter(options, placement)),
    kill: async (agent_id) => (await store.kill(agent_id, 'you', Date.now())).ids,
    answer: async (ask_id, answer) => {
      const { ok } = await store.answer(ask_id, { by: 'you', ...answer, at: Date.now() });
      if (!ok) throw new CoppiceError('E_ASK_ANSWERED', 'that was answered already, or its call is gone');
    },
    send: async (to_id, text, { id = randomUUID(), from = 'you' } = {}) => {
      const root_id = (await store.agent(to_id))?.root_id ?? to_id;
      const body = storable(text);
      const letter = { id, root_id, to_id, from_id: null, from_name: from, kind: 'letter', body } as const;
      const result = await store.send({ ...letter, sent_at: Date.now() });
      if (!result.ok) throw new CoppiceError('E_AGENT_DEAD', 'it has ended and reads no mail');
      return result.mail;
    },
  };
  return face as RuntimeFace;
}

function composeRoot(
  context: Context,
  store: Store,
  terms: ToolsetTerms,
  { model, profile, cwd, limits = {}, label = [], anywhere = false, ...rest }: RootRequest,
): ComposedRoot {
  const own = {
    ...context,
    options: {
      ...context.options,
      ...(model === undefined ? {} : { model }),
      ...(cwd === undefined ? {} : { cwd }),
    },
  };
  const chosen = chooseModel(own, namedProfile(terms, profile));
  return {
    config: composeConfig(own, terms, chosen, { profile, ...rest }),
    limits: composeLimits(context, limits, profile),
    placement: placementOf(store, { label, anywhere }, context.env),
  };
}
