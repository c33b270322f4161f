import { resolve } from 'node:path';
import { loadScript, scriptTrust } from '../../models/workflow/saved-scripts.ts';
import { clean } from '../../render/clean.ts';
import { fit } from '../../render/style.ts';
import type { CoppiceClient } from '../../serve/client/client.ts';
import { type RerunStart, rerunWorkflow } from '../../trees/workflow/rerun-run.ts';
import { leadRun } from '../run/follow-run.ts';
import { parseLimits } from '../run/limit-option.ts';
import { composeTerms } from '../setup/compose-config.ts';
import type { Context } from '../setup/context.ts';
import { argsOf } from './workflow-args.ts';
import { consent, followWorkflow } from './workflow-run.ts';

interface RerunOptions {
  readonly script?: string;
  readonly args?: string;
  readonly fresh: readonly string[];
  readonly limit: readonly string[];
  readonly yes?: boolean;
  readonly ask?: boolean;
  readonly events?: boolean;
  readonly timeout?: number;
  readonly wait?: boolean;
}

/** `coppice workflow rerun RUN`. */
export async function workflowRerun(context: Context, text: string, options: RerunOptions): Promise<number> {
  const loaded =
    options.script === undefined
      ? null
      : loadScript(
          options.script,
          resolve(context.options.cwd ?? '.'),
          scriptTrust(context.env, context.data_folder),
        );
  const args = argsOf(options.args);
  const limits = parseLimits(options.limit);
  const { server } = context;
  if (server !== null) {
    const change = {
      ...{ fresh: [...options.fresh], script: loaded?.source, limits },
      ...(args === undefined ? {} : { args: JSON.parse(args) }),
    };
    const begin = async (client: CoppiceClient) => (await client.rerunWorkflow(text, change)).id;
    return followWorkflow(context, server, begin, { ...options, title: clean(text) });
  }
  const store = await context.openStore();
  let begun: RerunStart;
  try {
    begun = await rerunWorkflow(store, text, { script: loaded ?? undefined, args, fresh: options.fresh });
    // A script that has run was agreed to.
    if (loaded !== null && options.yes !== true) await consent(store, begun.config, loaded, args);
  } catch (error) {
    await store.close();
    throw error;
  }
  const start = { ...begun, limits: { ...begun.limits, ...limits } };
  return leadRun(context, store, composeTerms(context), (runtime) => runtime.start(start), {
    ...options,
    title: `coppice workflow rerun  ·  ${fit(clean(begun.name), 40, context.err)}  ·  ${begun.config.model}`,
  });
}
