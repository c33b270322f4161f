import { createCronTool } from '../../cron/cron-tool.ts';
import { localZone } from '../../cron/schedule/describe-schedule.ts';
import type { ToolsetTerms } from '../../kernel/toolsets/toolset-terms.ts';
import type { Model } from '../../models/model.ts';
import { openModel } from '../../models/providers.ts';
import type { Gate } from '../../models/rate-limit-gate.ts';
import { killProcessesOfDeadRuntimes } from '../../processes/stray-processes.ts';
import type { AgentConfig } from '../../records/agent/agent.ts';
import { openRuntime } from '../../runtime/open-runtime.ts';
import type { RuntimeFace } from '../../runtime/runtime-face.ts';
import { agentPrograms } from '../../settings/agent-programs.ts';
import { dataFolder, outputFolder, rulesFile, settingsPlaces } from '../../settings/folders.ts';
import { serversOf } from '../../settings/open-servers.ts';
import { quirkFile } from '../../settings/quirk-file.ts';
import { commandBounds } from '../../settings/sandbox-of.ts';
import type { Store, WorkerRole } from '../../store/store.ts';
import { createBuiltInTools } from '../../tools/tool-registry.ts';
import { canAsk } from './channels-config.ts';
import type { Context } from './context.ts';
import { DEMO_COMMANDS } from './demo-rules.ts';

export interface RuntimeTerms {
  /** Models that only this command knows. */
  readonly extra?: ReadonlyMap<string, Model>;
  /** Whether a person can answer calls that need approval, for all agents or by their configuration. */
  readonly can_ask?: boolean | ((config: AgentConfig) => boolean);
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
  const gates = new Map<string, Gate>();
  const quirks = quirkFile(dataFolder(context.env));
  const bounds = commandBounds(configuration.sandbox, context.env, store);
  const acp = agentPrograms(configuration, context.env, store);
  // Processes that a killed predecessor left running must not go on beside this one.
  killProcessesOfDeadRuntimes();
  const open = async (name: string): Promise<Model> =>
    extra.get(name) ??
    openModel(name, {
      providers: configuration.providers ?? {},
      env: context.env,
      gates,
      quirks,
      acp,
    });
  const cron = createCronTool({
    store,
    canAsk,
    default_tz: localZone(),
    terms,
    checkModel: async (name) => void (await open(name)),
  });
  return openRuntime({
    store,
    openModel: open,
    ...(configuration.context === undefined ? {} : { context: configuration.context }),
    role,
    labels,
    tools: [
      ...createBuiltInTools({
        ...bounds,
        known_commands: DEMO_COMMANDS,
        web: configuration.web ?? {},
        env: context.env,
      }),
      cron,
    ],
    openServers: serversOf(configuration, context.env, store),
    terms,
    can_ask,
    spill_dir: outputFolder(context.data_folder),
    rules_file: rulesFile(context.env),
    settings: settingsPlaces(context.options.config, context.env),
    env_allow: configuration.env_allow ?? [],
    bounds,
  });
}
