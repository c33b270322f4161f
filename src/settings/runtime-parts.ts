import { homedir } from 'node:os';
import { argumentsFault } from '../kernel/toolsets/json-schema/arguments-fault.ts';
import type { Door } from '../models/gate/closed-provider.ts';
import type { Gate } from '../models/gate/gate.ts';
import type { Model } from '../models/model.ts';
import type { OpenHost } from '../models/model-host.ts';
import { type OpenModelOptions, openModel } from '../models/providers.ts';
import type { WorkflowFunction } from '../models/workflow/globals/workflow-function.ts';
import type { WorkflowHost } from '../models/workflow-host.ts';
import type { CommandBounds } from '../processes/sandbox/command-bounds.ts';
import type { Agent } from '../records/agent/agent.ts';
import type { Hooks } from '../records/hook.ts';
import type { ToolServers } from '../records/tool.ts';
import type { WorkflowTerms } from '../records/workflow/workflow-terms.ts';
import type { Store } from '../store/store.ts';
import { askPerson } from '../tools/ask-person.ts';
import { agentPrograms } from './agent-programs.ts';
import { dataFolder, loginsFolder, outputFolder, settingsPlaces } from './folders.ts';
import { asideFile, limitFile, quirkFile } from './quirk-file.ts';
import { commandBounds, programSandbox } from './sandbox-of.ts';
import type { Settings } from './settings.ts';

/** The parts of a runtime that follow from the settings. `own`: models that take precedence; `named`: the configuration file, if one was named. */
export function runtimeParts(
  settings: Settings,
  env: NodeJS.ProcessEnv,
  store: Store,
  own: (name: string, terms: OpenModelOptions) => Model | Promise<Model> | undefined,
  named?: string,
) {
  const { providers = {}, sandbox, context, env_allow = [] } = settings;
  const terms = {
    ...{
      providers,
      env,
      gates: new Map<string, Gate>(),
      doors: new Map<string, Door>(),
      quirks: quirkFile(dataFolder(env)),
    },
    onLearnt: limitFile(dataFolder(env)).learn,
    acp: agentPrograms(settings, env, store),
  };
  const bounds = commandBounds(sandbox, env, store);
  // Imported once an agent program is asked.
  const openHost: OpenHost = async (agent, terms, mode, askPerson) =>
    (await import('./agent-program-host.ts')).createModelHost(agent, { ...terms, bounds }, mode, askPerson);
  const workflows = {
    modelOf: async (agent: Agent, own: WorkflowTerms, program?: () => WorkflowFunction | undefined) =>
      (await import('../models/workflow/script-model.ts')).scriptModel(agent, own, program),
    async load(name: string, folder: string) {
      const { nestedScript, scriptTrust } = await import('../models/workflow/saved-scripts.ts');
      return nestedScript(name, folder, scriptTrust(env, dataFolder(env)));
    },
    ask: askPerson,
  } satisfies WorkflowHost;
  return {
    ...{ workflows, hooks: openHooks(settings, env, bounds) },
    ...{ store, env_allow, bounds, openHost, ...(context === undefined ? {} : { context }) },
    openModel: async (name: string): Promise<Model> => own(name, terms) ?? openModel(name, terms),
    // Imported once an agent needs a server.
    openServers: () => openServers(settings, env, store),
    spill_dir: outputFolder(dataFolder(env)),
    settings: settingsPlaces(named, env),
  };
}

/** The hooks of the settings and of trusted projects. */
export function openHooks(
  { agentHooks = {} }: Pick<Settings, 'agentHooks'>,
  env: NodeJS.ProcessEnv,
  bounds: CommandBounds,
): Hooks {
  let made: Promise<Hooks> | undefined;
  return {
    async run(...given) {
      // Imported with the first call or message.
      made ??= import('../tools/hooks/project-hooks.ts').then(({ hooksOf }) =>
        hooksOf(agentHooks, bounds, dataFolder(env), env.HOME ?? homedir()),
      );
      return (await made).run(...given);
    },
  };
}

/** The MCP servers of the settings; none runs yet. `ledger`: the one whose files they must not see. */
export async function openServers(
  { mcp = {}, sandbox }: Settings,
  env: NodeJS.ProcessEnv,
  ledger: Pick<Store, 'kind' | 'location'> | null,
): Promise<ToolServers> {
  const { McpHost } = await import('../tools/mcp-servers/mcp-host.ts');
  return new McpHost({
    config: mcp,
    env,
    sandboxFor: (name, config) => programSandbox(sandbox, config, env, ledger, `mcp.servers.${name}`),
    logins: loginsFolder(dataFolder(env)),
    onAside: asideFile(dataFolder(env)).learn,
    argumentsFault,
  });
}
