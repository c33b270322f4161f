import { createCronTool } from '../../cron/cron-tool.ts';
import { localZone } from '../../cron/schedule/describe-schedule.ts';
import type { ToolsetTerms } from '../../kernel/toolsets/toolset-terms.ts';
import type { Model } from '../../models/model.ts';
import { scriptTrust } from '../../models/workflow/saved-scripts.ts';
import { killProcessesOfDeadRuntimes } from '../../processes/stray-processes.ts';
import { type AgentConfig, WHAT_IF } from '../../records/agent/agent.ts';
import { openRuntime } from '../../runtime/open-runtime.ts';
import type { RuntimeFace } from '../../runtime/runtime-face.ts';
import { rulesFile } from '../../settings/folders.ts';
import { runtimeParts } from '../../settings/runtime-parts.ts';
import { livingServers } from '../../store/process-gone.ts';
import type { Store, WorkerRole } from '../../store/store.ts';
import { createBuiltInTools } from '../../tools/tool-registry.ts';
import { createWorkflowTool } from '../../trees/workflow/workflow-tool.ts';
import { canAsk } from './channels-config.ts';
import type { Context } from './context.ts';
import { DEMO_COMMANDS } from './demo-rules.ts';

export interface RuntimeTerms {
  /** Models that only this command knows. */
  readonly extra?: ReadonlyMap<string, Model> | undefined;
  /** Whether a person can answer calls that need approval, for all agents or by their configuration. */
  readonly can_ask?: boolean | 'terminal' | ((config: AgentConfig) => boolean);
  readonly role?: WorkerRole;
  readonly labels?: readonly string[];
}

/** Opens the runtime of one command, with the models of the configuration and all built-in tools. */
export async function composeRuntime(
  context: Context,
  store: Store,
  terms: ToolsetTerms,
  { extra = new Map(), can_ask = false, role = 'run', labels = [] }: RuntimeTerms = {},
): Promise<RuntimeFace> {
  const { configuration } = context.loaded;
  const { env, options } = context;
  const parts = runtimeParts(
    configuration,
    env,
    store,
    (name) => extra.get(name) ?? (name === WHAT_IF ? whatIf() : undefined),
    options.config,
  );
  const whatIf = async () =>
    (await import('../../trees/rewind/what-if/what-if-model.ts')).whatIfModel({
      ...parts,
      runtime: () => runtime,
    });
  // Processes that a killed predecessor left running must not go on beside this one.
  killProcessesOfDeadRuntimes();
  const cron = createCronTool({
    store,
    canAsk,
    default_tz: localZone(),
    is_served: role === 'serve' || (await livingServers(store)).length > 0,
    terms,
    checkModel: async (name) => void (await parts.openModel(name)),
  });
  const runtime = await openRuntime({
    ...parts,
    role,
    labels,
    tools: [
      ...createBuiltInTools({
        ...parts.bounds,
        known_commands: DEMO_COMMANDS,
        web: configuration.web ?? {},
        env,
      }),
      cron,
      createWorkflowTool({
        runtime: () => runtime,
        ...{ store, trust: scriptTrust(env, context.data_folder) },
      }),
    ],
    terms,
    can_ask,
    rules_file: rulesFile(env),
  });
  return runtime;
}
