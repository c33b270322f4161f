import { type LeadOptions, lead } from '../../bench/kills/lead.ts';
import type { Store } from '../../src/store/store.ts';

/** Number of the commit whose first step is acknowledged without being written, to test the judge. */
const FORGETS_AT = 6;

function forgetful(store: Store): Store {
  let commits = 0;
  return new Proxy(store, {
    get(_, name) {
      const value: unknown = Reflect.get(store, name);
      if (typeof value !== 'function') return value;
      if (name !== 'commit') return value.bind(store);
      return async (steps: Parameters<Store['commit']>[0]) => {
        commits += 1;
        if (commits !== FORGETS_AT) return store.commit(steps);
        const rest = steps.slice(1);
        const verdicts = await store.commit(rest);
        const [first] = steps;
        const root_id = (await store.agent(first?.agent_id ?? ''))?.root_id ?? '';
        const tree = await store.tree(root_id);
        return [{ ok: true, killed: [], sent: [], tree }, ...verdicts];
      };
    },
  });
}

await lead(JSON.parse(process.argv[2] ?? '') as LeadOptions, forgetful);
