// Proves which of several granted rules a typed id takes back: in any case, exactly one, and once.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import { addRule, readRules } from '../../src/permissions/grants/rules-file.ts';
import { removeGrantedRule } from '../../src/store/approvals/granted-rules.ts';
import { openStore } from '../../src/store/open-store.ts';
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
