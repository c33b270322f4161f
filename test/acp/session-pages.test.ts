// Proves that an editor that pages through its sessions gets each one once, whatever began in the same millisecond.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import { openStore } from '../../src/store/open-store.ts';
import { makeHome } from '../cli/run-cli.ts';
import { closeOpened } from '../close-opened.ts';
import { CONFIG, newRoot } from '../store/ledger-fixture.ts';
import { openEditor, writeRules } from './editor-client.ts';

const home = makeHome();
after(closeOpened);

test('pages of sessions', async () => {
  const { agent } = await openEditor(home, ['--model', writeRules(home, [])]);
  const store = await openStore(`sqlite:${home.database}`);
  const config = { ...CONFIG, cwd: '/everywhere' };
  const ids: string[] = [];
  for (let index = 0; index < 120; index += 1) {
    const id = randomUUID();
    await newRoot(store, {}, { id, created_at: index < 110 ? 5_000 : 5_001, config });
    ids.unshift(id);
  }
  const listed: string[] = [];
  let cursor: string | null | undefined = null;
  do {
    const page: { sessions: readonly { sessionId: string }[]; nextCursor?: string | null } =
      await agent.request('session/list', { cwd: config.cwd, cursor });
    listed.push(...page.sessions.map(({ sessionId }) => sessionId));
    cursor = page.nextCursor;
  } while (cursor != null);
  assert.deepEqual(listed, ids);
  const wrong = agent.request('session/list', { cwd: config.cwd, cursor: '5001.3' });
  await assert.rejects(wrong, /cursor: not a value that session\/list returned/);
  await store.close();
});
