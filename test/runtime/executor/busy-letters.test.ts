// Proves that letters from other processes to an agent at work are read once each, however many are unread already.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { it } from 'node:test';
import type { Store } from '../../../src/store/store.ts';
import { letter } from '../../store/ledger-fixture.ts';
import { until } from '../../until.ts';
import { onBothDatabases } from '../both-databases.ts';
import { hangTool } from '../hang-tool.ts';
import { setStage } from '../stage.ts';

const LETTERS = 60;

onBothDatabases('letters to an agent at work', (database) => {
  it('are read once each, and all of them reach it', async () => {
    const read: string[] = [];
    const wrap = (store: Store): Store => ({
      ...store,
      mail: async (...terms: Parameters<Store['mail']>) => {
        const found = await store.mail(...terms);
        read.push(...found.map(({ id }) => id));
        return found;
      },
    });
    const stage = await setStage(({ step }) => (step === 0 ? [['hang', {}]] : 'read'), {
      database: await database(),
      tools: [hangTool()],
      wrap,
    });
    const root = await stage.start('work');
    const other = await stage.elsewhere();
    await until(async () => (await stage.agent('main')).state.type === 'executing', 'its call runs');
    read.length = 0;
    const ids: string[] = [];
    for (let at = 0; at < LETTERS; at += 1) {
      const sent = await other.send({
        ...letter(root, root, `letter ${at}`),
        id: randomUUID(),
        from_id: null,
      });
      assert.ok(sent.ok);
      ids.push(sent.mail.id);
      // So that it is looked at again and again.
      await until(() => read.includes(sent.mail.id), 'it has been read');
    }
    assert.deepEqual(read, ids);
    await stage.runtime.interrupt(root.id, 'enough');
    await stage.runtime.send(root.id, 'letter of mine');
    await stage.runtime.settled(root.id);
    const told = JSON.stringify(await stage.store.history(root.id)).match(/letter \d+(?=\D)/g);
    assert.deepEqual(
      told,
      ids.map((_, at) => `letter ${at}`),
    );
  });
});
