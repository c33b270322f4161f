import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { runName, workflowText } from '../../kernel/toolsets/workflow/workflow-agent.ts';
import { checkScript } from '../../models/workflow/check-script.ts';
import { type LoadedScript, loadScript } from '../../models/workflow/saved-scripts.ts';
import { decide } from '../../permissions/decide.ts';
import { policyOf } from '../../permissions/policy.ts';
import { toolPermission } from '../../permissions/tool-permission.ts';
import type { AgentConfig } from '../../records/agent/agent.ts';
import { estimateOf, estimateText } from '../../records/agent/estimate.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { DEFAULT_CALLS, type WorkflowTerms } from '../../records/workflow/workflow-terms.ts';
import { clean, cleanLines } from '../../render/clean.ts';
import { fit } from '../../render/style.ts';
import type { Store } from '../../store/store.ts';
import { leadRun } from '../run/follow-run.ts';
import { parseLimits } from '../run/limit-option.ts';
import { composeRoot, composeTerms, type RootOptions } from '../setup/compose-config.ts';
import type { Context } from '../setup/context.ts';
import { confirm } from '../setup/standard-input.ts';
import { argsOf, ledgerItself } from './workflow-args.ts';

interface WorkflowOptions extends RootOptions {
  readonly args?: string;
  readonly calls?: number;
  readonly ask?: boolean;
  readonly events?: boolean;
  readonly limit: readonly string[];
  readonly timeout?: number;
  readonly wait?: boolean;
}

/** Lines of a script that are shown before it is run. */
const SHOWN_LINES = 60;

/** `coppice workflow run NAME|FILE`. */
export async function workflowRun(
  context: Context,
  named: string,
  options: WorkflowOptions,
): Promise<number> {
  ledgerItself(context);
  const script = loadScript(named, resolve(context.options.cwd ?? '.'), context.env.HOME);
  const { name, description } = script.meta;
  const args = argsOf(options.args);
  const limits = parseLimits(options.limit);
  const workflow: WorkflowTerms = {
    ...{ name, description, script: script.source, seed: randomUUID(), started_at: Date.now() },
    calls: options.calls ?? DEFAULT_CALLS,
    ...(args === undefined ? {} : { args }),
    ...(typeof limits.tokens === 'number' ? { tokens: limits.tokens } : {}),
  };
  const terms = composeTerms(context);
  const root = composeRoot(context, terms, { ...options, limits });
  const store = await context.openStore();
  await consent(store, root.config, script, args);
  const config = { ...root.config, workflow };
  const begun = { ...root, prompt: workflowText(workflow), name: runName(name), config };
  return leadRun(context, store, terms, (runtime) => runtime.start(begun), {
    ...options,
    title: `coppice workflow  ·  ${fit(clean(name), 40, context.err)}  ·  ${config.model}`,
  });
}

/** A person sees what will run, and what it will probably cost, before anything starts; a script in CI says --yes or --allow workflow:NAME. */
async function consent(
  store: Store,
  config: AgentConfig,
  { meta, source }: LoadedScript,
  args: string | undefined,
): Promise<void> {
  const permission = toolPermission('workflow');
  const { verdict, rule } = decide(policyOf(config), permission, meta.name);
  if (verdict === 'allow') return;
  const refused = (why: string) =>
    new CoppiceError('E_REFUSED', `the workflow ${meta.name} was not started: ${why}`, {
      hint: `Allow it with --allow "workflow:${meta.name}" or --yes`,
    });
  if (verdict === 'deny') throw refused(`denied by ${rule}`);
  if (!process.stdin.isTTY || !process.stderr.isTTY) throw refused('nobody can be asked in this run');
  const check = await checkScript({ source, ...(args === undefined ? {} : { args: JSON.parse(args) }) });
  const calls = check.calls.filter(({ kind }) => kind === 'agent').length;
  const { model, profile = null } = config;
  const estimate = estimateOf(await store.pastAgents({ profile, model }));
  const lines = source.split('\n');
  const more = lines.length > SHOWN_LINES ? [`… and ${lines.length - SHOWN_LINES} more lines`] : [];
  process.stderr.write(
    `${[
      `Workflow ${clean(meta.name)}: ${clean(meta.description)}`,
      ...meta.phases.map(
        ({ title, detail }) => `  ${clean(title)}${detail === null ? '' : `: ${clean(detail)}`}`,
      ),
      '',
      cleanLines([...lines.slice(0, SHOWN_LINES), ...more].join('\n')),
      '',
      `With invented results it starts ${calls} agents${check.end.type === 'bounded' ? ' and more' : ''}. One agent, ${estimateText({ profile, model }, estimate)}`,
    ].join('\n')}\n`,
  );
  if (!(await confirm('Run it? [y] run  [N] no: '))) throw refused('you said no');
}
