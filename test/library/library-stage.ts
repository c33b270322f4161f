import { join } from 'node:path';
import {
  type Coppice,
  type CoppiceOptions,
  createScriptedModel,
  createToolRegistry,
  type Model,
  type ModelRequest,
  openCoppice,
  registerSubagentTools,
  type SubagentCallbacks,
  type SubagentToolsOptions,
  type ToolRegistry,
} from '../../src/coppice.ts';
import type { ScriptedRules } from '../../src/models/scripted/scripted-rules.ts';
import { closeLater } from '../close-opened.ts';
import { temporaryFolder } from '../temporary-folder.ts';

export interface LibraryStage {
  readonly coppice: Coppice;
  readonly registry: ToolRegistry;
  /** Requests to the scripted model, in order. */
  readonly requests: readonly ModelRequest[];
  readonly folder: string;
  /** Starts an agent, waits until its tree is settled and returns the reply, or the failure as text. */
  ask(prompt?: string): Promise<string>;
  /** Calls `subagent_spawn` from the program itself. */
  spawn(args: Readonly<Record<string, unknown>>): ReturnType<ToolRegistry['execute']>;
}

export interface LibraryStageOptions {
  readonly registry?: ToolRegistry;
  /** Default: registered with default options; null: not registered. */
  readonly subagents?: SubagentToolsOptions | null;
  readonly coppice?: Partial<CoppiceOptions>;
}

/** Sets up the library as a program uses it: real ledger, the scripted model under the name `script`. Closed by `closeOpened`. */
export async function libraryStage(
  rules: ScriptedRules['rules'],
  options: LibraryStageOptions = {},
): Promise<LibraryStage> {
  const folder = temporaryFolder();
  const requests: ModelRequest[] = [];
  const registry = options.registry ?? createToolRegistry();
  if (options.subagents !== null) registerSubagentTools(registry, options.subagents);
  const coppice = await openCoppice({
    database: `sqlite:${join(folder, 'ledger.db')}`,
    model: 'script',
    builtInTools: [],
    cwd: folder,
    registry,
    ...options.coppice,
    models: { script: recorded(rules, requests), ...options.coppice?.models },
  });
  closeLater(() => coppice.close());
  return {
    coppice,
    registry,
    requests,
    folder,
    async ask(prompt = 'begin') {
      const { reply, failure } = await (await coppice.start({ prompt })).result();
      return failure === null ? reply : `failed: ${failure.error}`;
    },
    spawn: (args) => registry.execute({ id: 'host-1', name: 'subagent_spawn', arguments: args }),
  };
}

function recorded(rules: ScriptedRules['rules'], requests: ModelRequest[]): Model {
  const model = createScriptedModel({ rules }, 'library test');
  return {
    ...model,
    stream(request, onDelta) {
      requests.push(request);
      return model.stream(request, onDelta);
    },
  };
}

/** A call of `subagent_spawn` for a rule's script; the sub-agent is named after its description. */
export function spawnCall(
  description: string,
  more: Record<string, unknown> = {},
): { name: string; input: Record<string, unknown> } {
  return { name: 'subagent_spawn', input: { task: `do ${description}`, description, ...more } };
}

export interface Told {
  readonly name: keyof SubagentCallbacks;
  readonly id: string;
  readonly told: unknown;
}

/** Callbacks that record their arguments, in order. */
export function recorder(): { readonly callbacks: SubagentCallbacks; readonly told: Told[] } {
  const told: Told[] = [];
  const callbacks: SubagentCallbacks = {
    onSubagentStart: (info) => told.push({ name: 'onSubagentStart', id: info.id, told: info }),
    onSubagentStreamDelta: (id, text) => told.push({ name: 'onSubagentStreamDelta', id, told: text }),
    onSubagentToolCallStart: (id, call) => told.push({ name: 'onSubagentToolCallStart', id, told: call }),
    onSubagentToolCallEnd: (id, result) => told.push({ name: 'onSubagentToolCallEnd', id, told: result }),
    onSubagentComplete: (id, result) => told.push({ name: 'onSubagentComplete', id, told: result }),
    onSubagentError: (id, error) => told.push({ name: 'onSubagentError', id, told: error }),
  };
  return { callbacks, told };
}

/** Names of the callbacks of each sub-agent, in order, by the sub-agent's description. */
export function stories(told: readonly Told[]): Record<string, string[]> {
  const names = new Map<string, string>();
  const found: Record<string, string[]> = {};
  for (const one of told) {
    if (one.name === 'onSubagentStart') names.set(one.id, (one.told as { description: string }).description);
    const name = names.get(one.id) ?? 'before its start';
    found[name] ??= [];
    found[name].push(one.name.replace('onSubagent', ''));
  }
  return found;
}
