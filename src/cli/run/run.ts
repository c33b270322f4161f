import type { AgentConfig } from '../../records/agent/agent.ts';
import { clean } from '../../render/clean.ts';
import { fit } from '../../render/style.ts';
import type { Store } from '../../store/store.ts';
import { printJson } from '../agents/agent-json.ts';
import { tellUndelivered } from '../deliveries/tell-undelivered.ts';
import { composeConfig, composeLimits, composeRuntime, composeTerms } from '../setup/compose.ts';
import type { Context } from '../setup/context.ts';
import { tellUnled } from '../worker/unled.ts';
import { chooseModel } from './choose-model.ts';
import { followRun } from './follow-run.ts';
import { parseLimits } from './limit-option.ts';
import { placementOf } from './placement-of.ts';
import { readText } from './read-text.ts';

export interface RunOptions {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly yes?: boolean;
  readonly ask?: boolean;
  readonly events?: boolean;
  readonly name?: string;
  readonly limit: readonly string[];
  readonly thinking?: AgentConfig['thinking'];
  readonly toolset: readonly string[];
  readonly timeout?: number;
  readonly profile?: string;
  readonly wait?: boolean;
  readonly detach?: boolean;
  readonly label: readonly string[];
  readonly anywhere?: boolean;
}

/** So many of the newest deliveries are looked at. */
const RECENT = 100;

/** `coppice run [PROMPT|-]`. */
export async function run(context: Context, given: string | undefined, options: RunOptions): Promise<number> {
  const prompt = await readText(given, 'prompt');
  const limits = composeLimits(context, parseLimits(options.limit), options.profile);
  const terms = composeTerms(context);
  const model = chooseModel(
    context,
    options.profile === undefined ? null : (terms.profiles.get(options.profile)?.model ?? null),
  );
  const permissions = { allow: options.allow, deny: options.deny, yes: options.yes === true };
  const config = composeConfig(context, terms, model, permissions, {
    ...(options.thinking === undefined ? {} : { thinking: options.thinking }),
    ...(options.profile === undefined ? {} : { profile: options.profile }),
    ...(options.toolset.length === 0 ? {} : { toolsets: options.toolset }),
  });
  const store = await context.openStore();
  const runtime = await composeRuntime(context, store, terms, { can_ask: options.ask === true });
  const name = options.name ?? 'main';
  if (options.detach === true) {
    try {
      const placement = placementOf(store, options, context.env);
      const id = await runtime.enter({ prompt, name, config, limits }, placement);
      return await tellEntered(context, store, id);
    } finally {
      await runtime.close();
      await store.close();
    }
  }
  return followRun(context, store, runtime, () => runtime.start({ prompt, name, config, limits }), {
    title: `coppice run  ·  ${model}  ·  ${fit(clean(prompt), 40, context.err)}`,
    events: options.events,
    ask: options.ask,
    wait: options.wait,
    after: async ({ id }) => {
      const pending = await store.deliveries({ status: 'pending', limit: RECENT });
      await tellUndelivered(
        store,
        pending.filter(({ root_id }) => root_id === id),
      );
    },
    timeout_ms: options.timeout === undefined ? undefined : options.timeout * 1000,
  });
}

async function tellEntered(context: Context, store: Store, id: string): Promise<number> {
  if (context.json) {
    printJson({ schema: 'coppice/entered/v1', id });
    return 0;
  }
  const short = id.slice(0, 8);
  process.stdout.write(`${id}\n`);
  process.stderr.write(
    `follow it: coppice logs -f ${short} · coppice tree ${short} · coppice --tree ${short} · wait: coppice wait ${short}\n`,
  );
  await tellUnled(context, store, id);
  return 0;
}
