/** A ledger of your own: the one of SQLite, with a line in a file for every step that was committed. */
import { appendFileSync } from 'node:fs';
import { openCore, openSqlite, type Store } from 'coppice/core';
import { newest, ownModel } from './model.ts';

function audited(store: Store, file: string): Store {
  return {
    ...store,
    async commit(steps) {
      const verdicts = await store.commit(steps);
      // A refused step has changed nothing.
      const lines = steps.flatMap(({ agent_id, state }, at) =>
        verdicts[at]?.ok === true ? [`${agent_id} ${state.type}\n`] : [],
      );
      appendFileSync(file, lines.join(''));
      return verdicts;
    },
  };
}

const store = audited(await openSqlite('store.db'), 'audit.log');
const core = await openCore({ store, models: { echo: ownModel('echo', newest) } });
const agent = await core.start({ prompt: 'Is this written down?', model: 'echo' });
console.log((await agent.result()).reply);
await core.close();
await store.close();
