/**
 * Proves, on both databases, which orders beside letters a person can give to agents: fork them in any state, add notes to them, let them
 * wait, and hide dead ones.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Agent } from '../../../src/records/agent/agent.ts';
import { FORK_PLACEHOLDER } from '../../../src/records/conversation/prompt.ts';
import { until } from '../../until.ts';
import { onBothDatabases } from '../both-databases.ts';
import { type Line, type Play, type Scene, type Stage, type StageOptions, setStage } from '../stage.ts';

const words = (scene: Scene): string[] =>
  scene.request.messages.flatMap((one) => (one.role === 'user' ? [one.text] : []));

/** Texts of the agent's events of this kind, which only people see. */
async function shown(on: Stage, agent: Agent, kind: string): Promise<string[]> {
  return (await on.store.history(agent.id)).flatMap((one) =>
    one.agent_id === agent.id && one.kind === 'event' && one.content.event === kind ? [one.content.text] : [],
  );
}

/** A line that ends its turn only when the test calls `release`. */
function held(): { readonly line: () => Promise<Line>; readonly release: (line: Line) => void } {
  const { promise, resolve } = Promise.withResolvers<Line>();
  return { line: () => promise, release: resolve };
}

function suite(database: () => Promise<string | undefined>): void {
  async function stage(play: Play, options: StageOptions = {}): Promise<Stage> {
    return setStage(play, { ...options, database: await database() });
  }

  describe('fork', () => {
    it('with a prompt begins at once, with the whole conversation; the parent continues unchanged', async () => {
      const on = await stage((scene) =>
        scene.name === 'main' ? 'the secret is 42' : words(scene).join('|'),
      );
      const { root } = await on.perform('remember a secret');
      const child = await on.runtime.fork(root.id, 'twin', 'say 漢字 🎋');
      assert.deepEqual([child.parent_id, child.origin, child.depth], [root.id, 'fork', 1]);
      await on.runtime.settled(root.id);
      const { reply } = await on.agent('twin');
      assert.match(reply ?? '', /^remember a secret\|You are now "twin"[\s\S]*Your task:\nsay 漢字 🎋$/);
      const [begun] = on.requests.filter(({ agent }) => agent.id === child.id);
      assert.match(JSON.stringify(begun?.messages), /the secret is 42/);
      assert.deepEqual(await shown(on, root, 'forked'), [`forked twin (${child.id.slice(0, 8)}) by you`]);
      const [first, told, ...more] = on.requests.filter(({ agent }) => agent.name === 'main');
      assert.deepEqual(told?.messages.slice(0, 1), first?.messages);
      assert.match(JSON.stringify(told?.messages.at(-1)), /message from twin/);
      assert.deepEqual(more, []);
    });

    it('without a prompt rests, also after a restart, and wakes with its first letter', async () => {
      const play: Play = (scene) => (scene.name === 'main' ? 'ready' : `heard ${scene.user}`);
      const on = await stage(play);
      const { root } = await on.perform('hello');
      const child = await on.runtime.fork(root.id, 'sleeper', null);
      await on.runtime.settled(root.id);
      assert.equal((await on.agent('sleeper')).state.type, 'idle');
      assert.equal(on.requests.length, 1);
      const again = await on.reopen();
      await again.runtime.resume(root.id);
      await again.runtime.send(child.id, 'now work');
      await again.runtime.settled(root.id);
      assert.equal((await again.store.agent(child.id))?.reply, 'heard now work');
      assert.match(JSON.stringify(again.requests[0]?.messages), /hello.*ready.*Wait: your task comes/s);
    });

    it('during a turn gives open calls the placeholder result, and never sees later messages of the parent', async () => {
      const [first, works] = [held(), held()];
      const on = await stage((scene) => {
        if (scene.name === 'works') return works.line();
        if (scene.name === 'main')
          return scene.step === 0 ? first.line() : scene.step === 1 ? 'said later' : 'said even later';
        return scene.request.messages
          .flatMap((one) => (one.role === 'results' ? one.results.map(({ output }) => output) : []))
          .join();
      });
      const root = await on.start();
      await until(() => on.requests.length === 1, 'the root thinks');
      const thinking = await on.runtime.fork(root.id, 'thinking', 'go');
      await on.runtime.fork(root.id, 'works', 'go');
      first.release([
        ['wait', { timeout: 600 }],
        ['wait', { timeout: 600 }],
      ]);
      await until(async () => (await on.agent('main')).state.type === 'executing', 'the root waits');
      const waiting = await on.runtime.fork(root.id, 'waiting', 'go');
      await until(async () => (await on.store.agent(waiting.id))?.reply !== null, 'the fork has answered');
      assert.equal((await on.store.agent(waiting.id))?.reply, [FORK_PLACEHOLDER, FORK_PLACEHOLDER].join());
      assert.equal((await on.store.agent(thinking.id))?.reply, '');
      await on.runtime.send(root.id, 'wake up');
      await on.runtime.send(root.id, 'wake up again');
      works.release('worked');
      await on.runtime.settled(root.id);
      await on.runtime.send(waiting.id, 'once more');
      await on.runtime.settled(root.id);
      const seen = on.requests.filter(({ agent }) => agent.id === waiting.id).map(({ messages }) => messages);
      assert.equal(seen.length, 2);
      assert.doesNotMatch(JSON.stringify(seen), /later|wake up/);
      const before = JSON.stringify(seen[1]?.slice(0, seen[0]?.length));
      assert.equal(before, JSON.stringify(seen[0]));
    });

    it('forks of forks replay exactly after a restart', async () => {
      const play: Play = (scene) => `${scene.name} ${scene.step}`;
      const on = await stage(play);
      const { root } = await on.perform('generation 0');
      let parent: Agent = root;
      for (const name of ['one', 'two', 'three']) {
        parent = await on.runtime.fork(parent.id, name, `generation ${name}`);
        await on.runtime.settled(root.id);
        await on.runtime.capture(parent.id, `note of ${name}`);
      }
      const last = on.requests.at(-1)?.messages;
      const again = await on.reopen();
      await again.runtime.resume(root.id);
      await again.runtime.send(parent.id, 'and now?');
      await again.runtime.settled(root.id);
      const replayed = again.requests.at(-1)?.messages;
      assert.deepEqual(replayed?.slice(0, last?.length), last);
      assert.deepEqual(
        replayed?.slice(last?.length).map((one) => one.role),
        ['assistant', 'user'],
      );
      assert.equal((await again.store.agent(parent.id))?.reply, 'three 1');
    });

    it('of an agent with one task is an independent agent', async () => {
      const hold = held();
      const on = await stage(
        (scene) => {
          if (scene.name === 'main')
            return scene.step === 0 ? [['spawn_agents', { tasks: [{ task: 'dig' }] }]] : 'done';
          if (scene.name === 'dig') return scene.step === 0 ? hold.line() : 'never';
          return `heard ${scene.user.split('\n').at(-1)}`;
        },
        { toolsets: ['process', 'fanout'] },
      );
      const root = await on.start();
      await until(() => on.requests.some(({ agent }) => agent.name === 'dig'), 'the child is at work');
      const twin = await on.runtime.fork((await on.agent('dig')).id, 'twin', 'look aside');
      await until(async () => (await on.store.agent(twin.id))?.state.type === 'idle', 'the fork rests');
      assert.equal((await on.store.agent(twin.id))?.reply, 'heard look aside');
      hold.release([['submit_result', { result: 'dug' }]]);
      assert.equal((await on.runtime.settled(root.id)).reply, 'done');
    });

    it('over a limit is refused with the reason and creates nothing', async () => {
      const on = await stage(() => 'ready');
      const alone = await on.perform('hello', { children: 0 });
      await assert.rejects(on.runtime.fork(alone.root.id, 'first', 'go'), {
        code: 'E_REFUSED',
        message: /fork refused: limit "children" reached: 0 of 0/,
      });
      assert.equal((await on.store.agents({ root_id: alone.root.id })).length, 1);
      const { root } = await on.perform('hello', { depth: 2 });
      const child = await on.runtime.fork(root.id, 'first', null);
      const grandchild = await on.runtime.fork(child.id, 'below', null);
      await assert.rejects(on.runtime.fork(grandchild.id, 'deeper', null), {
        code: 'E_REFUSED',
        message: /limit "depth" reached/,
      });
      assert.equal((await on.store.agents({ root_id: root.id })).length, 3);
    });

    it('of a dead or unknown agent, or without a name, is refused', async () => {
      const on = await stage(() => 'ready');
      const { root } = await on.perform();
      const child = await on.runtime.fork(root.id, 'child', null);
      await on.runtime.kill(child.id);
      await assert.rejects(on.runtime.fork(child.id, 'x', 'go'), { code: 'E_AGENT_DEAD' });
      await assert.rejects(on.runtime.fork('nobody', 'x', 'go'), { code: 'E_AGENT_NOT_FOUND' });
      await assert.rejects(on.runtime.fork(root.id, ' ', 'go'), { code: 'E_INVALID_ARGUMENT' });
      await assert.rejects(on.runtime.capture(child.id, 'note'), { code: 'E_AGENT_DEAD' });
    });

    it('created between two look-ups is still found', async () => {
      const on = await stage(() => 'ready');
      const { root } = await on.perform();
      // Delays the read of the mailbox until the order has been carried out.
      const store: { -readonly [Key in 'mail']: Stage['store'][Key] } = on.store;
      const mail = store.mail.bind(on.store);
      let held_back = 0;
      store.mail = async (...terms) => {
        held_back += 1;
        await until(async () => (await mail(terms[0])).length === 0, 'the order is followed');
        return mail(...terms);
      };
      const child = await on.runtime.fork(root.id, 'late', null);
      assert.deepEqual([child.name, child.parent_id], ['late', root.id]);
      assert.ok(held_back > 0);
    });

    it('costs the same in a mailbox with many letters, read ones and unread ones', async () => {
      const on = await stage(() => 'ready');
      const { root } = await on.perform('hello', { children: 0 });
      for (let at = 0; at < 30; at += 1) await on.runtime.send(root.id, `letter ${at}`);
      await on.runtime.settled(root.id);
      const store: { -readonly [Key in 'mail']: Stage['store'][Key] } = on.store;
      const mail = store.mail.bind(on.store);
      let most = 0;
      store.mail = async (...terms) => {
        const found = await mail(...terms);
        most = Math.max(most, found.length);
        return found;
      };
      await assert.rejects(on.runtime.fork(root.id, 'another', null), { code: 'E_REFUSED' });
      assert.ok(most <= 1, `${most} letters were read at once`);
    });

    it('many at once are all created separately', async () => {
      const on = await stage((scene) => (scene.name === 'main' ? 'ready' : `I am ${scene.name}`));
      const { root } = await on.perform();
      const names = ['a', 'b', 'c', 'd', 'e'];
      const children = await Promise.all(names.map((name) => on.runtime.fork(root.id, name, 'who are you?')));
      await on.runtime.settled(root.id);
      const replies = await Promise.all(children.map(async ({ id }) => (await on.store.agent(id))?.reply));
      assert.deepEqual(
        replies,
        names.map((name) => `I am ${name}`),
      );
    });
  });

  describe('capture', () => {
    it('is kept in any state of the agent and never reaches a model', async () => {
      const [first, second, works] = [held(), held(), held()];
      const on = await stage((scene) => {
        if (scene.name === 'main') return [first.line, second.line][scene.step]?.() ?? 'end';
        return scene.name === 'works' ? works.line() : 'kid';
      });
      const root = await on.start();
      const kept = async (text: string): Promise<void> => {
        await on.runtime.capture(root.id, text);
        await until(
          async () =>
            (await on.store.history(root.id)).some(
              (one) => one.kind === 'capture' && one.content.text === text,
            ),
          `"${text}" is kept`,
        );
      };
      const asked = () => on.requests.filter(({ agent }) => agent.name === 'main').length;
      await until(() => asked() === 1, 'it thinks');
      await kept('note while thinking');
      first.release([
        ['fork', { name: 'works', prompt: 'work' }],
        ['wait', { timeout: 600 }],
      ]);
      await until(async () => (await on.agent('main')).state.type === 'executing', 'it waits');
      await kept('note while waiting');
      await on.runtime.send(root.id, 'go on');
      await until(() => asked() === 2, 'it thinks again');
      second.release('done');
      works.release('worked');
      await on.runtime.settled(root.id);
      await kept('note at rest\n漢字 🎋');
      await on.runtime.send(root.id, 'and?');
      await on.runtime.settled(root.id);
      const child = await on.runtime.fork(root.id, 'kid', 'hello');
      await on.runtime.settled(root.id);
      assert.equal(asked(), 5, 'the root is told of the end of each child');
      assert.doesNotMatch(JSON.stringify(on.requests.map(({ messages }) => messages)), /note/);
      const notes = (await on.store.history(child.id)).filter((one) => one.kind === 'capture');
      assert.equal(notes.length, 3);
      assert.equal((await on.agent('main')).reply, 'end');
    });
  });

  describe('reap', () => {
    it('hides dead agents, keeps them in the ledger, and leaves living ones', async () => {
      const on = await stage((scene) => `I am ${scene.name}`);
      const { root } = await on.perform();
      const [dead, alive] = [
        await on.runtime.fork(root.id, 'dead', null),
        await on.runtime.fork(root.id, 'alive', null),
      ];
      await on.runtime.kill(dead.id);
      assert.deepEqual(await on.store.reap(root.id, Date.now()), [dead.id]);
      assert.deepEqual(await on.store.reap(root.id, Date.now()), []);
      await on.runtime.send(alive.id, 'who?');
      await on.runtime.settled(root.id);
      assert.equal((await on.store.agent(alive.id))?.reply, 'I am alive');
      assert.notEqual((await on.store.agent(dead.id))?.reaped_at, null);
      assert.notDeepEqual(await on.store.history(dead.id), []);
    });
  });
}

onBothDatabases('what a person orders', suite);
