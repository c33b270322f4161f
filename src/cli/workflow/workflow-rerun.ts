import { clean } from '../../render/clean.ts';
import { fit } from '../../render/style.ts';
import type { CoppiceClient } from '../../serve/client/client.ts';
import { rerunWorkflow } from '../../trees/workflow/rerun-run.ts';
import { type FollowFlags, leadRun } from '../run/follow-run.ts';
import { parseLimits } from '../run/limit-option.ts';
import { checkedDelivery } from '../setup/compose-config.ts';
import type { Context } from '../setup/context.ts';
import { argsOf, namedScript } from './workflow-args.ts';
import { consent, followWorkflow } from './workflow-run.ts';

interface RerunOptions extends FollowFlags {
  readonly script?: string;
  readonly args?: string;
  readonly fresh: readonly string[];
  readonly limit: readonly string[];
  readonly deliver: readonly string[];
  readonly yes?: boolean;
}

/** `coppice workflow rerun RUN`. */
export async function workflowRerun(context: Context, text: string, options: RerunOptions): Promise<number> {
  const loaded = options.script === undefined ? undefined : await namedScript(context, options.script);
  const args = argsOf(options.args);
  const limits = parseLimits(options.limit);
  const { server } = context;
  if (server !== null) {
    const change = {
      ...{ fresh: [...options.fresh], script: loaded?.source, limits, deliver: [...options.deliver] },
      ...(args === undefined ? {} : { args: JSON.parse(args) }),
    };
    const begin = async (client: CoppiceClient) => (await client.rerunWorkflow(text, change)).id;
    return followWorkflow(context, server, begin, { ...options, title: clean(text) });
  }
  const deliver = await checkedDelivery(context, options.deliver);
  return leadRun(context, async (store) => {
    const begun = await rerunWorkflow(store, text, { script: loaded, args, fresh: options.fresh, deliver });
    // A script that has run was agreed to.
    if (loaded !== undefined && options.yes !== true) {
      const root = { config: begun.config, limits: { ...begun.limits, ...limits } };
      await consent(store, root, loaded, args);
    }
    return {
      ...options,
      begin: (runtime) => runtime.start({ ...begun, limits: { ...begun.limits, ...limits } }),
      title: `coppice workflow rerun  ·  ${fit(clean(begun.name), 40, context.err)}  ·  ${begun.config.model}`,
    };
  });
}
