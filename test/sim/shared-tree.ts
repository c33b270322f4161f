import type { Limits } from '../../src/records/agent/limits.ts';
import type { NewAgent } from '../../src/records/run/new-agent.ts';
import type { Store } from '../../src/store/store.ts';
import { newAgent, stepOf } from '../store/ledger-fixture.ts';
import type { TreePlan } from './plans.ts';
import type { Random } from './random.ts';

export const MEMBERS = 5;

/** Creates a tree whose agents rest, know each other, have mail and are led by nobody: each process leads those that it manages to claim. */
export async function enterSharedTree(
  store: Store,
  { config, limits }: TreePlan & { readonly limits: Limits },
  random: Random,
  now: number,
): Promise<string> {
  const ids = Array.from({ length: MEMBERS }, () => random.uuid());
  const made = (id: string, parent: NewAgent['agent'] | null): NewAgent => {
    const { agent } = newAgent(null, { id, config, state: { type: 'idle' }, worker: null, created_at: now });
    const under = {
      parent_id: parent?.id ?? null,
      root_id: parent?.id ?? id,
      depth: parent === null ? 0 : 1,
    };
    return {
      agent: { ...agent, ...under, name: `m${ids.indexOf(id)}`, origin: parent === null ? 'root' : 'fork' },
      messages: [],
    };
  };
  const [root_id, ...others] = ids as [string, ...string[]];
  const root = made(root_id, null);
  await store.createRoot(root, limits, { served: true });
  const kept = await store.agent(root_id);
  if (kept === null) throw new Error('the root is not there');
  await store.commit([stepOf(kept, { at: now, create: others.map((id) => made(id, root.agent)) })]);
  for (const to_id of ids) {
    const body = `more work with ${ids.filter((id) => id !== to_id)}`;
    await store.send({
      id: random.uuid(),
      root_id,
      to_id,
      from_id: null,
      from_name: 'human',
      kind: 'letter',
      body,
      sent_at: now,
    });
  }
  return root_id;
}
