/** Proves over each wire protocol that a configured window is never exceeded, and that an unknown one is learned from the first refusal. */
import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { closeLater, closeOpened } from '../../close-opened.ts';
import { open, PROTOCOLS } from '../../models/protocols.ts';
import type { Exchange } from '../../servers/brain.ts';
import { countingServer } from '../../servers/counting-server.ts';
import { setStage } from '../stage.ts';
import { TASK, WINDOW, workTool } from './worn-out-window.ts';

afterEach(closeOpened);

const TURNS = 70;
for (const protocol of PROTOCOLS)
  describe(protocol.type, () => {
    for (const window of [WINDOW, undefined])
      it(window === undefined ? 'learns it' : 'knows it', async () => {
        const refused: Exchange[] = [];
        const { server, model } = await open(
          protocol,
          countingServer(WINDOW, protocol.type, refused, ['work', {}]),
          {
            ...(window === undefined ? {} : { window }),
          },
        );
        closeLater(() => server.close());
        const stage = await setStage(() => 'unused', {
          models: { [model.id]: model },
          config: { model: model.id },
          tools: [workTool(TURNS)],
        });
        const { reply, root } = await stage.perform(TASK);
        assert.equal(reply, 'All counted.');
        assert.equal(refused.length, window === undefined ? 1 : 0);
        const last = server.exchanges.at(-1) as Exchange;
        assert.ok(last.raw.includes(TASK) && last.raw.includes('So far I have counted.'));
        const cuts = (await stage.store.history(root.id)).flatMap((one) =>
          one.kind === 'event' ? one.content.event : [],
        );
        assert.ok(cuts.includes('checkpoint'));
      });
  });
