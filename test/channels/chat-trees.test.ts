// Proves that `/new` ends a session even if it is cut short and repeated: no tree goes on out of reach of its chat.
import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import { ChatTrees } from '../../src/channels/chat-trees.ts';
import { DEFAULT_LIMITS } from '../../src/records/agent/limits.ts';
import type { RuntimeFace } from '../../src/runtime/runtime-face.ts';
import type { Store } from '../../src/store/store.ts';
import { closeOpened } from '../close-opened.ts';
import { setStage } from '../runtime/stage.ts';
import { CONFIG } from '../store/ledger-fixture.ts';

afterEach(closeOpened);

for (const method of ['kill', 'remember'] as const)
  it(`a renewal that fails in its ${method} is repeated`, async () => {
    const on = await setStage(() => 'well');
    let breaks = false;
    /** Fails in one method once it is told to. */
    const breaking = <T extends RuntimeFace | Store>(target: T): T =>
      new Proxy(target, {
        get(_, name) {
          const own = Reflect.get(target, name, target) as unknown;
          if (typeof own !== 'function') return own;
          if (breaks && name === method) return () => Promise.reject(new Error('away'));
          return own.bind(target);
        },
      });
    const trees = new ChatTrees({
      channel: 'telegram',
      store: breaking(on.store),
      runtime: breaking(on.runtime),
      session: () => ({ config: { ...CONFIG, model: 'play/actor' }, limits: DEFAULT_LIMITS }),
      onWritten: () => undefined,
    });
    assert.equal(await trees.renew('7'), false);
    await trees.say('7', { id: 'one', from: 'Ada', text: 'hello' });
    const [root] = await trees.agents('7');
    breaks = true;
    await assert.rejects(trees.renew('7'), /away/);
    breaks = false;
    assert.equal(await trees.renew('7'), true);
    assert.equal((await on.store.agent(root?.id ?? ''))?.state.type, 'killed');
    assert.equal(await trees.renew('7'), false);
    await trees.say('7', { id: 'two', from: 'Ada', text: 'hello again' });
    assert.notEqual((await trees.agents('7'))[0]?.id, root?.id);
  });
