/**
 * Proves, on both databases, that waiting agents cost only rows: their tree is released, no worker looks for it, and it resumes by itself: on a letter, on an
 * answer, when the agents that it waits for end, or when its time is up, here or at another worker, with the remaining time.
 */
import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import { z } from 'zod';
import type { Agent } from '../../../src/records/agent/agent.ts';
import type { Limits } from '../../../src/records/agent/limits.ts';
import type { PlacedMessage } from '../../../src/records/conversation/message.ts';
import type { Tool } from '../../../src/records/tool.ts';
import { defineTool } from '../../../src/tools/define-tool.ts';
import { TreeKeeper } from '../../../src/trees/leaders/tree-keeper.ts';
import { onBothDatabases } from '../../runtime/both-databases.ts';
import { forked, type Play, type Stage, setStage } from '../../runtime/stage.ts';
import { until } from '../../until.ts';

const NONE = { allow: [], ask: [], deny: [] };
const RULES = { cli: { allow: ['*'], ask: ['act'], deny: [] }, config: NONE };
const act = defineTool({
  name: 'act',
  description: 'Acts.',
  input: z.strictObject({}),
  side_by_side: false,
  idempotent: false,
  subject: () => 'something',
  run: async () => 'acted',
}) as Tool;

interface Server {
  readonly on: Stage;
  readonly keeper: TreeKeeper;
}

onBothDatabases('parked trees', (database) => {
  const open: Server[] = [];
  afterEach(async () => {
    for (const { keeper, on } of open.splice(0)) {
      await keeper.stop();
      await on.close();
    }
  });

  function serverOn(on: Stage): Server {
    const keeper = new TreeKeeper({
      store: on.store,
      runtime: on.runtime,
      idle_ms: 100,
      onEnded: () => undefined,
      onTrouble: (error) => {
        throw error;
      },
    });
    const server = { on, keeper };
    open.push(server);
    return server;
  }

  async function serve(play: Play): Promise<Server> {
    const on = await setStage(play, {
      tools: [act],
      can_ask: true,
      database: await database(),
    });
    const server = serverOn(on);
    server.keeper.wake();
    return server;
  }

  async function enter({ on, keeper }: Server, limits: Partial<Limits> = {}): Promise<string> {
    const config = {
      model: 'play/actor',
      thinking: 'off' as const,
      system: '',
      toolsets: ['process'],
      tools: ['act'],
      cwd: process.cwd(),
      permissions: RULES,
    };
    const id = await on.runtime.enter({ prompt: 'begin', config, limits }, []);
    keeper.wake();
    return id;
  }

  /** All agents of the tree, if each is parked and has no worker. */
  async function parkedOf({ on, keeper }: Server, root_id: string, agents: number) {
    const members = await on.store.agents({ root_id });
    const rest = members.every(({ state, worker }) => state.type === 'executing' && worker === null);
    const given_up = rest && members.length === agents && keeper.led === 0;
    return given_up && (await on.store.unledTrees(10)).length === 0 ? members : null;
  }

  async function parked(server: Server, root_id: string, agents = 1): Promise<readonly Agent[]> {
    let members: readonly Agent[] | null = null;
    await until(async () => {
      members = await parkedOf(server, root_id, agents);
      return members !== null;
    }, 'it is given up while it waits, and nobody looks for it');
    return members ?? [];
  }

  async function replied({ on }: Server, id: string, text: string | RegExp): Promise<void> {
    await until(async () => {
      const reply = (await on.store.agent(id))?.reply ?? '';
      return typeof text === 'string' ? reply === text : text.test(reply);
    }, `it says ${text}`);
  }

  /** Returns the newest result of a call. */
  async function resultOf({ on }: Server, id: string): Promise<PlacedMessage> {
    const result = (await on.store.history(id)).findLast(({ kind }) => kind === 'result');
    assert.ok(result);
    return result;
  }

  /** Waits for the next message of an agent that waits for a person. */
  const waiter =
    (timeout: number): Play =>
    (scene) => {
      if (scene.name === 'kid') return scene.step === 0 ? [['act', {}]] : 'acted';
      if (scene.step === 0) return [['fork', { name: 'kid', prompt: 'act' }]];
      return scene.step === 1 ? [['wait', { timeout }]] : `got ${scene.last[0]?.output}`;
    };

  it('a letter wakes an agent that waits', async () => {
    const server = await serve(waiter(3_600));
    const id = await enter(server);
    await parked(server, id, 2);
    await server.on.store.send({
      id: 'letter-1',
      root_id: id,
      to_id: id,
      from_id: null,
      from_name: 'you',
      kind: 'letter',
      body: 'wake up 漢字',
      sent_at: await server.on.store.now(),
    });
    await replied(server, id, /"status":"received".*wake up 漢字/);
  });

  it('a wait ends in its time, and never before; the turn goes on', async () => {
    const server = await serve(waiter(2));
    const began = await server.on.store.now();
    const id = await enter(server);
    const agent = (await parked(server, id, 2)).find((one) => one.id === id);
    const state = agent?.state.type === 'executing' ? agent.state : null;
    const deadline = state?.running[0]?.wait?.deadline ?? 0;
    assert.ok(deadline >= began + 2_000);
    await replied(server, id, /"status":"timeout"/);
    const { at } = await resultOf(server, id);
    assert.ok(at >= deadline && at < deadline + 20_000, `${at - deadline} ms after its time`);
  });

  it('the run time of a turn ends it while it is parked', async () => {
    const server = await serve((scene) =>
      scene.name === 'main' && scene.step > 1 ? 'the last words' : waiter(3_600)(scene),
    );
    // The worker that resumes the tree may have no time left for the last words.
    const is_over = async (id: string) => {
      const agent = await server.on.store.agent(id);
      const late = agent?.state.type === 'errored' && agent.state.failure.kind === 'timed_out';
      return late || agent?.reply === 'the last words';
    };
    let id = '';
    // On a slow machine the time may be over before it is parked: then once more, with a longer one.
    for (let run_ms = 3_000; id === ''; run_ms *= 4) {
      const next = await enter(server, { run_ms });
      await until(async () => {
        if ((await parkedOf(server, next, 2)) !== null) id = next;
        return id !== '' || is_over(next);
      }, 'it is parked, or its time is over');
    }
    await until(() => is_over(id), 'the turn has ended');
  });

  it('a question is answered by another process, and the call runs', async () => {
    const server = await serve((scene) => (scene.step === 0 ? [['act', {}]] : `${scene.last[0]?.output}`));
    const id = await enter(server);
    await parked(server, id);
    const [ask] = await server.on.store.asks({ root_id: id, open: true });
    assert.ok(ask);
    const answer = { verdict: 'allow', scope: 'once', note: '', by: 'you', at: 1 } as const;
    assert.ok((await server.on.store.answer(ask.id, answer)).ok);
    await replied(server, id, 'acted');
  });

  it('a parent that waits for a child hears of its end, whether it is killed or goes on', async () => {
    for (const end of ['kill', 'answer'] as const) {
      const server = await serve((scene) => {
        if (scene.name === 'kid') return scene.step === 0 ? [['act', {}]] : 'the kid is done';
        if (scene.step === 0) return [['fork', { name: 'kid', prompt: 'wait' }]];
        if (scene.step === 1) return [['wait', { timeout: 3_600, from_agents: forked(scene) }]];
        return `${scene.last[0]?.output}`;
      });
      const id = await enter(server);
      const kid = (await parked(server, id, 2)).find(({ name }) => name === 'kid');
      assert.ok(kid);
      if (end === 'kill') await server.on.store.kill(kid.id, 'you', await server.on.store.now());
      else {
        const [ask] = await server.on.store.asks({ root_id: id, open: true });
        const answer = { verdict: 'allow', scope: 'once', note: '', by: 'you', at: 1 } as const;
        assert.ok((await server.on.store.answer(ask?.id ?? '', answer)).ok);
      }
      await replied(server, id, end === 'kill' ? /"status":"dead"/ : /the kid is done/);
    }
  });

  it('another worker takes it when its time has come, with what is left of it', async () => {
    const first = await serve(waiter(3));
    const id = await enter(first);
    const agent = (await parked(first, id, 2)).find((one) => one.id === id);
    const state = agent?.state.type === 'executing' ? agent.state : null;
    await first.keeper.stop();
    const second = serverOn(await first.on.reopen());
    open.splice(open.indexOf(first), 1);
    second.keeper.wake();
    await replied(second, id, /"status":"timeout"/);
    const { at } = await resultOf(second, id);
    assert.ok(at >= (state?.running[0]?.wait?.deadline ?? Number.POSITIVE_INFINITY));
  });
});
