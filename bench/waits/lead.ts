import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createScriptedModel } from '../../src/models/scripted/scripted-model.ts';
import type { ScriptedRules } from '../../src/models/scripted/scripted-rules.ts';
import { openRuntime } from '../../src/runtime/open-runtime.ts';
import type { RuntimeFace } from '../../src/runtime/runtime-face.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';

/** A runtime on the ledger whose models answer at once by these rules. */
export function openLeader(store: Store, rules: ScriptedRules): Promise<RuntimeFace> {
  return openRuntime({
    store,
    openModel: async () => createScriptedModel(rules, 'bench'),
    tools: [],
    spill_dir: join(tmpdir(), 'coppice-bench-spill'),
    env_allow: [],
  });
}

// As a process of its own: leads the agents of the tree that nobody leads, until its parent ends.
const [database, root_id, rules] = process.argv.slice(2);
if (import.meta.main && database !== undefined && root_id !== undefined && rules !== undefined) {
  const store = await openStore(database);
  const runtime = await openLeader(store, JSON.parse(rules) as ScriptedRules);
  await runtime.resume(root_id);
  process.send?.('leads');
  process.once('disconnect', async () => {
    await runtime.close();
    await store.close();
    process.exit(0);
  });
}
