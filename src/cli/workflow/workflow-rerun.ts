import { resolve } from 'node:path';
import { loadScript, scriptTrust } from '../../models/workflow/saved-scripts.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { clean } from '../../render/clean.ts';
import { fit } from '../../render/style.ts';
import { type RerunStart, rerunWorkflow } from '../../trees/workflow/rerun-run.ts';
import { leadRun } from '../run/follow-run.ts';
import { parseLimits } from '../run/limit-option.ts';
import { composeTerms } from '../setup/compose-config.ts';
import type { Context } from '../setup/context.ts';
import { argsOf } from './workflow-args.ts';
import { consent } from './workflow-run.ts';

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
  if (context.server !== null)
    throw new CoppiceError('E_USAGE', 'a workflow is rerun on the ledger itself, not over a server', {
      hint: 'Leave out --server; name the ledger with --database',
    });
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
