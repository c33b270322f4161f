import { clean } from '../../render/clean.ts';
import { fit } from '../../render/style.ts';
import type { CoppiceClient } from '../../serve/client/client.ts';
import { type PlacementOptions, refusePlacement } from '../../trees/leaders/placement.ts';
import { ask } from '../setup/ask-server.ts';
import {
  composeRoot,
  composeTerms,
  delivering,
  type RootOptions,
  requestOf,
} from '../setup/compose-config.ts';
import type { Context } from '../setup/context.ts';
import { tellUnled } from '../setup/no-server-notices.ts';
import { printResult } from '../setup/output.ts';
import { readText } from '../setup/standard-input.ts';
import { calledElsewhere, calledPrompt } from './called-prompt.ts';
import { type FollowFlags, leadRun } from './follow-run.ts';
import { parseLimits } from './limit-option.ts';
import { followAtServer } from './server-run.ts';

interface RunOptions extends RootOptions, PlacementOptions, FollowFlags {
  readonly name: string;
  readonly limit: readonly string[];
  readonly deliver: readonly string[];
  readonly detach?: boolean;
  readonly dryRun?: boolean;
}

/** `coppice run [PROMPT|-]`. */
export async function run(context: Context, given: string | undefined, options: RunOptions): Promise<number> {
  if (options.dryRun === true) return dryRun(context, options);
  const typed = await readText(given, 'prompt');
  const shown = fit(clean(typed), 40, context.err);
  const { server } = context;
  if (options.detach === true || server !== null) {
    // Who leads the tree knows its model; for commands only rules, tools and the folder count.
    const { model = 'scripted:none' } = context.options;
    const config = () =>
      composeRoot(context, composeTerms(context), { ...options, model, limits: {} }).config;
    const { prompt, model: wanted } = await calledElsewhere(context, typed, config);
    const at = withModel(context, wanted);
    if (options.detach === true || server === null) return detach(at, prompt, options);
    const begin = async (client: CoppiceClient): Promise<string> =>
      (await client.startTree(startOf(at, prompt, options))).id;
    const title = `coppice run  ·  ${server.url}  ·  ${shown}`;
    return followAtServer(at, server, begin, { ...options, title });
  }
  refusePlacement(options);
  const limits = parseLimits(options.limit);
  const terms = composeTerms(context);
  const compose = (at: Context) =>
    delivering(at, composeRoot(at, terms, { ...options, limits }), options.deliver);
  const root = await compose(context);
  const { name } = options;
  return leadRun(context, async (store) => ({
    ...options,
    terms,
    async begin(runtime) {
      const offers = () => runtime.offers({ root_id: '', config: root.config });
      const { message, model } = await calledPrompt(context, typed, root.config, store, offers);
      const meant = model === null ? root : await compose(withModel(context, model));
      return runtime.start({ prompt: message.text, name, ...message, ...meant });
    },
    title: `coppice run  ·  ${root.config.model}  ·  ${shown}`,
  }));
}

/** The context with the model that a command wants, unless another one was chosen. */
function withModel(context: Context, model: string | null): Context {
  const { options } = context;
  return model === null || options.model !== undefined
    ? context
    : { ...context, options: { ...options, model } };
}

/** `coppice run --dry-run`: estimates what an agent with this model and profile, and one of each profile, will use. Starts nothing. */
async function dryRun(context: Context, { limit, profile }: RunOptions): Promise<number> {
  parseLimits(limit);
  const { model } = context.options;
  const document = await ask(context, (asked) => asked.estimates({ model, profile }));
  return printResult(context, document, () => [
    'Nothing was started. What one agent will probably use, without those that it creates:',
    ...document.estimates.map(({ line }) => `  ${clean(line)}`),
  ]);
}

/** Only records the task, for a server or worker to lead. */
function detach(context: Context, prompt: string, options: RunOptions): Promise<number> {
  return ask(context, async (asked) => {
    const entered = await asked.startTree(startOf(context, prompt, options));
    const { id } = entered;
    const short = id.slice(0, 8);
    printResult(context, entered, () => [id]);
    if (context.json) return 0;
    process.stderr.write(
      context.hint(
        `follow it: coppice logs -f ${short} · coppice tree ${short} · coppice --tree ${short} · wait: coppice wait ${short}\n`,
      ),
    );
    await tellUnled(asked, id);
    return 0;
  });
}

/** Request that starts a tree. */
function startOf(
  context: Context,
  prompt: string,
  options: RunOptions,
): Parameters<CoppiceClient['startTree']>[0] {
  const { name, label, anywhere, limit, deliver } = options;
  return {
    ...requestOf(context, options),
    ...{ prompt, name, label: [...label], anywhere, limits: parseLimits(limit), deliver: [...deliver] },
  };
}
