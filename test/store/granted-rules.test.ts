// Proves which of several granted rules a typed id takes back: in any case, exactly one, and once.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import { addRule, readRules } from '../../src/permissions/grants/rules-file.ts';
import { grantedRules, removeGrantedRule } from '../../src/store/approvals/granted-rules.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { temporaryFolder } from '../temporary-folder.ts';

it('of two rules the one that is meant goes, and is not there a second time', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'rules.json');
  const store = await openStore(`sqlite:${join(folder, 'ledger.db')}`);
  const ids = ['abcd1111-0000-4000-8000-000000000000', 'abcd2222-0000-4000-8000-000000000000'];
  const about = {
    rule: 'bash:ls',
    folder,
    asked_by: 'ask(bash)',
    granted_by: 'you',
    granted_at: '2026-01-01T00:00:00Z',
  };
  for (const id of ids) addRule(file, { id, ...about });
  for (const typed of ['abcd', 'ABCD', ''])
    await assert.rejects(removeGrantedRule(store, file, typed), /matches 2 rules/);
  assert.equal((await removeGrantedRule(store, file, 'ABCD2')).id, ids[1]);
  await assert.rejects(removeGrantedRule(store, file, 'abcd2'), { code: 'E_RULE_NOT_FOUND' });
  assert.deepEqual(
    readRules(file).map(({ id }) => id),
    [ids[0]],
  );
  assert.equal((await removeGrantedRule(store, file, (ids[0] ?? '').toUpperCase())).id, ids[0]);
  assert.deepEqual(readRules(file), []);
  await store.close();
});

it('a rule for an agent or a tree holds until that has ended, and one for a turn as long as it is that turn', async () => {
  const idle = { type: 'idle' };
  const working = { type: 'requesting', attempt: 1, turn: { granted: ['turn'] } };
  const states: Record<string, object> = { root: idle, kid: working, dead: { type: 'killed' } };
  const ask = (id: string, scope: string, agent_id: string, root_id = 'root') => ({
    ...{ id, scope, agent_id, agent_name: agent_id, root_id, tool: 'bash', granted: null },
    ...{ cwd: '/', rule: 'ask(bash)', asked_at: 1, answered_at: 2, answered_by: null },
  });
  const asks = [
    ask('tree', 'session', 'dead'),
    ask('dead tree', 'session', 'kid', 'dead'),
    ask('agent', 'agent', 'kid'),
    ask('dead agent', 'agent', 'dead'),
    ask('gone agent', 'agent', 'gone'),
    ask('turn', 'turn', 'kid'),
    ask('turn before', 'turn', 'kid'),
    ask('turn of another', 'turn', 'root'),
  ];
  const store = {
    grants: async () => asks,
    agent: async (id: string) => (states[id] === undefined ? null : { state: states[id] }),
  } as unknown as Store;
  const rules = await grantedRules(store, join(temporaryFolder(), 'none.json'));
  assert.deepEqual(
    rules.map(({ id, agent_id }) => [id, agent_id]),
    [
      ['tree', null],
      ['agent', 'kid'],
      ['turn', 'kid'],
    ],
  );
});
