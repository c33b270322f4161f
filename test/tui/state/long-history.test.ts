// Proves that the terminal reads the end of a long conversation, says how much it leaves out, and goes on from there.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openStore } from '../../../src/store/open-store.ts';
import type { AppContext } from '../../../src/tui/app-context.ts';
import { TreeConnection } from '../../../src/tui/connection/tree-connection.ts';
import type { UiEvent } from '../../../src/tui/state/ui-event.ts';
import { EMPTY_UI, paneOf, type UiState } from '../../../src/tui/state/ui-state.ts';
import { reduce } from '../../../src/tui/state/ui-store.ts';
import { fresh, newRoot, said, stepOf } from '../../store/ledger-fixture.ts';
import { newLedger } from '../../store/new-ledger.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

const LONG = 2_500;

it('of a long conversation the newest messages are read', async () => {
  const store = await openStore(await newLedger(temporaryFolder()));
  const root = await newRoot(store);
  const messages = Array.from({ length: LONG }, (_, at) => said(`message ${at}`));
  await store.commit([stepOf(root, { messages })]);
  const agent = await fresh(store, root);
  const reads: number[] = [];
  const counted = {
    ...store,
    history: async (...terms: Parameters<typeof store.history>) => {
      const found = await store.history(...terms);
      reads.push(found.length);
      return found;
    },
  };
  let state: UiState = EMPTY_UI;
  const dispatch = (event: UiEvent): void => {
    state = reduce(state, event);
  };
  const under_way: Promise<void>[] = [];
  const app = {
    store: counted,
    dispatch,
    get state() {
      return state;
    },
    attempt: (work: () => Promise<void>) => void under_way.push(work()),
  } as unknown as AppContext;
  const options = { meters: { budget: false }, line_mode: true } as never;
  const connection = new TreeConnection(app, options, { by: 'here' }, () => undefined);
  dispatch({ type: 'opened', root_id: root.id, agents: [agent] });
  dispatch({ type: 'visit', agent_id: root.id });
  connection.load();
  await Promise.all(under_way);
  assert.deepEqual(reads, [2_000]);
  const { entries, whole, seq } = paneOf(state, root.id);
  assert.deepEqual([whole, seq, entries.length], [true, agent.last_seq, 2_001]);
  assert.match(JSON.stringify(entries[0]), /501 earlier messages are not shown: \/export/);
  assert.match(JSON.stringify(entries.at(-1)), /message 2499/);
  connection.load();
  assert.equal(under_way.length, 1, 'nothing is missing');
  await store.close();
});
