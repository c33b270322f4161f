import type { LoadedScript } from '../../models/workflow/saved-scripts.ts';
import { wholeScript } from '../../models/workflow/scripts-within.ts';
import { clean, cleanLines } from '../../render/clean.ts';
import { fit } from '../../render/style.ts';
import type { CoppiceClient } from '../../serve/client/client.ts';
import type { Store } from '../../store/store.ts';
import type { Root } from '../../trees/open-tree.ts';
import { consentLines, unspentBudget } from '../../trees/workflow/workflow-consent.ts';
import { notStarted, workflowRoot, workflowVerdict } from '../../trees/workflow/workflow-root.ts';
import { type FollowFlags, leadRun } from '../run/follow-run.ts';
import { parseLimits } from '../run/limit-option.ts';
import { followAtServer } from '../run/server-run.ts';
import {
  composeRoot,
  composeTerms,
  delivering,
  type RootOptions,
  requestOf,
} from '../setup/compose-config.ts';
import type { Context } from '../setup/context.ts';
import { confirm } from '../setup/standard-input.ts';
import { argsOf, namedScript } from './workflow-args.ts';

interface WorkflowOptions extends RootOptions, FollowFlags {
  readonly args?: string;
  readonly calls?: number;
  readonly limit: readonly string[];
  readonly deliver: readonly string[];
}

/** `coppice workflow run NAME|FILE`. */
export async function workflowRun(
  context: Context,
  named: string,
  options: WorkflowOptions,
): Promise<number> {
  const script = await namedScript(context, named);
  const args = argsOf(options.args);
  const limits = parseLimits(options.limit);
  const { calls, deliver } = options;
  const shown = fit(clean(script.meta.name), 40, context.err);
  const { server } = context;
  if (server !== null) {
    const start = {
      ...{ ...requestOf(context, options), script: script.source, calls, limits, deliver: [...deliver] },
      ...(args === undefined ? {} : { args: JSON.parse(args) }),
    };
    const begin = async (client: CoppiceClient) => (await client.startWorkflow(start)).id;
    return followWorkflow(context, server, begin, { ...options, title: shown });
  }
  const terms = composeTerms(context);
  const root = await delivering(
    context,
    composeRoot(context, terms, { ...options, limits }),
    options.deliver,
  );
  return leadRun(context, async (store) => {
    await consent(store, root, script, args);
    const begun = workflowRoot(root, script, { args, calls });
    const title = `coppice workflow  ·  ${shown}  ·  ${root.config.model}`;
    return { ...options, terms, begin: (runtime) => runtime.start(begun), title };
  });
}

/** Follows a run that a server starts. */
export function followWorkflow(
  context: Context,
  server: NonNullable<Context['server']>,
  begin: (client: CoppiceClient) => Promise<string>,
  { title, ...options }: Omit<Parameters<typeof followAtServer>[3], 'failure'>,
): Promise<number> {
  return followAtServer(context, server, begin, {
    failure: async (client, id) => (await client.workflowRun(id)).failure,
    ...options,
    title: `coppice workflow  ·  ${server.url}  ·  ${title}`,
  });
}

/** A person sees what will run, and what it will probably cost, before anything starts; a script in CI says --yes or --allow workflow:NAME. */
export async function consent(
  store: Store,
  { config, limits }: Root,
  script: LoadedScript,
  args: string | undefined,
): Promise<void> {
  const { meta, source, within } = script;
  if (workflowVerdict(config, script) === 'allow') return;
  const refused = (why: string) => notStarted(meta.name, why);
  if (!process.stdin.isTTY || !process.stderr.isTTY) throw refused('nobody can be asked in this run');
  const told = await consentLines(
    store,
    script,
    args === undefined ? undefined : JSON.parse(args),
    config,
    unspentBudget({ config, limits }),
  );
  process.stderr.write(
    `${[cleanLines(wholeScript(source, within)), '', `Workflow ${clean(meta.name)}`, ...told].join('\n')}\n`,
  );
  if (!(await confirm('Run it? [y] run  [N] no: '))) throw refused('you said no');
}
