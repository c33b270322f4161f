import { CoppiceError } from '../../records/coppice-error.ts';
import { clean } from '../../render/clean.ts';
import { fit } from '../../render/style.ts';
import type { ClientOptions } from '../../serve/client/client-request.ts';
import { tellUndelivered } from '../../serve/leading/leaders.ts';
import { type PlacementOptions, placementOf } from '../../serve/leading/placement.ts';
import { tellUnled } from '../../serve/leading/unled.ts';
import type { Store } from '../../store/store.ts';
import {
  chooseModel,
  composeConfig,
  composeLimits,
  composeTerms,
  namedProfile,
  type RootOptions,
} from '../setup/compose-config.ts';
import { composeRuntime } from '../setup/compose-runtime.ts';
import type { Context } from '../setup/context.ts';
import { printJson } from '../setup/output.ts';
import { readText } from '../setup/standard-input.ts';
import { followRun } from './follow-run.ts';
import { parseLimits } from './limit-option.ts';

export interface RunOptions extends RootOptions, PlacementOptions {
  readonly ask?: boolean;
  readonly events?: boolean;
  readonly name: string;
  readonly limit: readonly string[];
  readonly timeout?: number;
  readonly wait?: boolean;
  readonly detach?: boolean;
}

/** How many of the newest deliveries are checked for those of this run. */
const RECENT = 100;

/** `coppice run [PROMPT|-]`. */
export async function run(context: Context, given: string | undefined, options: RunOptions): Promise<number> {
  const prompt = await readText(given, 'prompt');
  if (context.server !== null) return startAtServer(context, context.server, prompt, options);
  const limits = composeLimits(context, parseLimits(options.limit), options.profile);
  const terms = composeTerms(context);
  const model = chooseModel(context, namedProfile(terms, options.profile));
  const config = composeConfig(context, terms, model, options);
  const store = await context.openStore();
  const runtime = await composeRuntime(context, store, terms, { can_ask: options.ask === true });
  const { name } = options;
  if (options.detach === true) {
    try {
      const placement = placementOf(store, options, context.env);
      const id = await runtime.enter({ prompt, name, config, limits }, placement);
      return await tellDetached(context, store, id);
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

async function tellDetached(context: Context, store: Store, id: string): Promise<number> {
  if (context.json) {
    printJson({ schema: 'coppice/entered/v1', id });
    return 0;
  }
  tellHow(id);
  await tellUnled(context, store, id);
  return 0;
}

function tellHow(id: string): void {
  const short = id.slice(0, 8);
  process.stdout.write(`${id}\n`);
  process.stderr.write(
    `follow it: coppice logs -f ${short} · coppice tree ${short} · coppice --tree ${short} · wait: coppice wait ${short}\n`,
  );
}

/** With the configuration of the server. Whatever is led here needs the database. */
async function startAtServer(
  context: Context,
  server: ClientOptions,
  prompt: string,
  options: RunOptions,
): Promise<number> {
  const { name, profile, thinking, toolset = [], allow = [], deny, label, anywhere, yes } = options;
  if (options.detach !== true)
    throw new CoppiceError('E_USAGE', 'a run that is followed here needs the database itself', {
      hint: 'With --server: coppice run --detach, then coppice logs -f',
    });
  const { model, cwd } = context.options;
  const { openClient } = await import('../../serve/client/client.ts');
  const { id } = await openClient(server).startTree({
    prompt,
    name,
    model,
    profile,
    cwd,
    thinking,
    ...(toolset.length === 0 ? {} : { toolset: [...toolset] }),
    allow: [...(yes === true ? ['*'] : []), ...allow],
    deny: [...(deny ?? [])],
    label: [...(label ?? [])],
    anywhere,
    limits: parseLimits(options.limit),
  });
  if (context.json) printJson({ schema: 'coppice/entered/v1', id });
  else tellHow(id);
  return 0;
}
