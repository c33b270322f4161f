// Proves that a door is told of every approval of an open tree that opens or closes, led here or by another process: also of a question that its asker
// withdraws, of which no conversation tells.
import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import * as z from 'zod';
import type { Tool } from '../../src/records/tool.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { OpenTree } from '../../src/trees/open-tree.ts';
import { closeOpened } from '../close-opened.ts';
import { type Stage, setStage } from '../runtime/stage.ts';
import { until } from '../until.ts';

const NONE = { allow: [], ask: [], deny: [] };

afterEach(closeOpened);

/** A tool that asks a person, and takes the question back when it is told to. */
function doubter(signal: AbortSignal): Tool {
  return defineTool({
    name: 'doubt',
    description: 'Asks, and thinks better of it.',
    input: z.strictObject({}),
    side_by_side: false,
    idempotent: false,
    subject: () => '',
    run: async (_input, { question, signal: ended }) => {
      await question?.({ asker: 'doubter', call: 'doubt', message: 'Really?', fields: [] }, signal);
      await new Promise((resolve) => ended.addEventListener('abort', resolve, { once: true }));
      return 'ended';
    },
  }) as Tool;
}

async function openedOn(on: Stage, leads: boolean, root_id: string) {
  const { runtime } = on;
  const store = leads ? on.store : await on.elsewhere();
  const seen: number[] = [];
  const tree = new OpenTree({
    ...{ store, runtime, leads },
    onEvent: (event) => {
      if (event.type === 'agent') tree.know(event.agent);
    },
    onAsks: () => void store.asks({ root_id, open: true }).then(({ length }) => seen.push(length)),
  });
  return { tree, seen };
}

describe('a question that opens and is withdrawn is told', () => {
  for (const leads of [true, false])
    it(leads ? 'led here' : 'led by another process', async () => {
      const second_thoughts = new AbortController();
      const on = await setStage(({ step }) => (step === 0 ? [['doubt', {}]] : 'done'), {
        can_ask: true,
        tools: [doubter(second_thoughts.signal)],
        config: { permissions: { cli: { allow: ['*'], ask: [], deny: [] }, config: NONE } },
      });
      const root = await on.start();
      const { tree, seen } = await openedOn(on, leads, root.id);
      if (leads)
        on.runtime.subscribe((event) => {
          if (event.type === 'agent') tree.know(event.agent);
        });
      await tree.follow(await tree.resume(root.id));
      await until(() => seen.at(-1) === 1, 'the question');
      second_thoughts.abort();
      await until(() => seen.at(-1) === 0, 'the end of the question');
      assert.equal((await on.store.agent(root.id))?.state.type, 'executing');
      await tree.close();
      await on.runtime.interrupt(root.id, 'enough');
      await on.runtime.settled(root.id);
    });
});
