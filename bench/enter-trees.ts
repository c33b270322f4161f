import { join } from 'node:path';
import { createScriptedModel } from '../src/models/scripted/scripted-model.ts';
import type { ScriptedRules } from '../src/models/scripted/scripted-rules.ts';
import type { Limits } from '../src/records/agent/limits.ts';
import { openRuntime } from '../src/runtime/open-runtime.ts';
import type { Store } from '../src/store/store.ts';
import { createBuiltInTools } from '../src/tools/tool-registry.ts';

export interface EnterTreesOptions {
  readonly store: Store;
  readonly count: number;
  /** Model of the roots, as in `--model`. */
  readonly model: string;
  readonly toolsets: readonly string[];
  readonly tools: readonly string[];
  readonly folder: string;
  readonly limits?: Partial<Limits>;
}

const RULES: ScriptedRules = { rules: [{ say: 'nobody asks here' }] };

/** Enters trees for workers, as `coppice run --detach --anywhere` does; resolves to the ids of their roots. */
export async function enterTrees(options: EnterTreesOptions): Promise<string[]> {
  const { store, count, model, toolsets, tools, folder } = options;
  const limits = { turns: 1_000_000, ...options.limits };
  const runtime = await openRuntime({
    store,
    openModel: async () => createScriptedModel(RULES, 'bench'),
    tools: createBuiltInTools(),
    spill_dir: join(folder, 'spill'),
    env_allow: [],
  });
  const none = { allow: [], ask: [], deny: [] };
  const permissions = { cli: { ...none, allow: ['*'] }, config: none };
  const config = { model, thinking: 'off' as const, system: '', toolsets, tools, cwd: folder, permissions };
  const ids: string[] = [];
  for (let number = 0; number < count; number += 1)
    ids.push(await runtime.enter({ prompt: 'begin', name: `tree-${number}`, config, limits }, []));
  await runtime.close();
  return ids;
}
