/**
 * Proves that a program finds its work in the ledger without having kept an id, and streams what agents say and what happens in their trees (docs/library.md):
 * every piece once, as it is asked for, also from a position that another process left.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { Model, ModelDelta, Stream, TextPiece } from '../../src/coppice.ts';
import { closeOpened } from '../close-opened.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { libraryStage } from './library-stage.ts';
import { ownModel } from './own-model.ts';

after(closeOpened);

const FORKS = [
  { when: { agent: 'helper' }, say: 'helped' },
  { when: { step: 0, user: 'begin' }, calls: [{ name: 'fork', input: { name: 'helper', prompt: 'help' } }] },
  { when: { user: 'hang' }, delay_ms: 600_000, say: 'late' },
  { say: 'done' },
];
const stage = (rules: readonly object[] = FORKS, coppice = {}) =>
  libraryStage(rules as never, { subagents: null, coppice });

describe('the ledger', () => {
  it('lists trees, agents, messages and the timeline as the client of a server does', async () => {
    const { coppice } = await stage();
    const agent = await coppice.start({ prompt: 'begin', id: 'first work' });
    await agent.result();
    const { trees } = await coppice.trees();
    assert.deepEqual(
      trees.map(({ root_id, title, outcome }) => [root_id, title, outcome]),
      [[agent.id, 'begin', 'done']],
    );
    const { agents } = await coppice.agents({ tree: 'first work' });
    assert.deepEqual(
      agents.map(({ name }) => name),
      ['main', 'helper'],
    );
    const { messages, next } = await coppice.messages('helper', { tail: 1 });
    assert.deepEqual([messages[0]?.kind, next], ['assistant', null]);
    const { ids, lanes } = await coppice.timeline('first work');
    assert.deepEqual([ids[0], lanes.length], [agent.id, 2]);
    for (const text of ['first work', agent.id, agent.id.slice(0, 8), 'main'])
      assert.equal((await coppice.find(text)).id, agent.id);
    assert.equal((await (await coppice.find('helper')).result()).reply, 'helped');
    await coppice.send('helper', 'once more');
    await assert.rejects(coppice.find('nobody'), {
      code: 'E_AGENT_NOT_FOUND',
      hint: /agents\(\{ all: true \}\)/,
    });
  });

  it('takes a tree back, as a new one that rests until it is resumed', async () => {
    const { coppice } = await stage();
    const agent = await coppice.start({ prompt: 'begin' });
    await agent.result();
    const { root_id, of } = await coppice.rewind(agent.id, { to: '1', edit: 'only this' });
    assert.equal(of, agent.id);
    assert.deepEqual((await coppice.agents({ tree: root_id as string })).agents.length, 1);
    assert.equal((await (await coppice.resume(root_id as string)).result()).reply, 'done');
    await assert.rejects(coppice.rewind(agent.id, { when: '1' } as never), /unknown key "when" of rewind/);
  });

  it('continues a tree in several ways, and does nothing again under the same id', async () => {
    const { coppice, requests } = await stage();
    const agent = await coppice.start({ prompt: 'begin' });
    await agent.result();
    const order = { at: '1', prompts: ['only this', 'begin'], check: 'true', here: true, id: 'which' };
    const { of, cells, best } = await coppice.whatIf(agent.id, order);
    assert.deepEqual(
      [of, cells.map(({ name, answer, check }) => [name, answer, check]), best],
      [agent.id, order.prompts.map((name) => [name, 'done', 'ok']), 'only this'],
    );
    const asked = requests.length;
    assert.deepEqual((await coppice.whatIf(agent.id, order)).cells, cells);
    assert.equal(requests.length, asked);
    await assert.rejects(coppice.whatIf(agent.id, { at: 'never' }), /names no message/);
  });

  it('is given more to do by a restarted program, also when it had come to rest', async () => {
    const database = `sqlite:${join(temporaryFolder(), 'work.db')}`;
    const begin = async () => {
      const { coppice } = await stage(FORKS, { database });
      return { coppice, lead: await coppice.start({ prompt: 'quick', id: 'lead' }) };
    };
    const first = await begin();
    await first.lead.result();
    await first.coppice.close();
    const { lead } = await begin();
    assert.equal((await lead.result()).reply, 'done');
    const child = await lead.spawn({ prompt: 'more', name: 'more', timeout_ms: 60_000 });
    assert.equal((await child.result()).reply, 'done');
  });

  it('gives a restarted program all work that nobody leads, and no other', async () => {
    const database = `sqlite:${join(temporaryFolder(), 'work.db')}`;
    const first = await stage(FORKS, { database });
    await (await first.coppice.start({ prompt: 'quick' })).result();
    const hanging = await Promise.all(
      ['one', 'two'].map((name) => first.coppice.start({ prompt: 'hang', name })),
    );
    await until(() => first.requests.length === 3, 'all are at work');
    const other = await stage(FORKS, { database });
    assert.deepEqual(await other.coppice.resume(), [], 'another process leads them');
    const one = await other.coppice.find('one');
    await assert.rejects(one.result({ timeout_ms: 50 }), { code: 'E_TIMEOUT' });
    await first.coppice.close();
    await assert.rejects(one.result(), { code: 'E_UNLED', message: /one/, hint: /resume\('/ });
    const taken = await other.coppice.resume();
    assert.deepEqual(taken.map(({ id }) => id).sort(), hanging.map(({ id }) => id).sort());
    assert.equal(taken[0]?.report.agents.length, 1);
    assert.equal((await other.coppice.resume('one')).report.elsewhere, 0);
    await Promise.all(taken.map((one) => one.kill()));
  });
});

/** A model that speaks in pieces, each when the test says so. */
function spoken() {
  const [say, end] = [Promise.withResolvers<(delta: ModelDelta) => void>(), Promise.withResolvers<string>()];
  const model = ownModel('spoken', () => end.promise);
  const stream: Model['stream'] = (request, onDelta) => {
    say.resolve(onDelta);
    // What it has told in pieces is not told again as a whole.
    return model.stream(request, () => undefined);
  };
  return { model: { ...model, stream }, say: say.promise, end: end.resolve };
}

describe('a stream of text', () => {
  const next = async (pieces: AsyncIterator<TextPiece>) =>
    (await pieces.next()).value as TextPiece | undefined;

  it('gives each piece once, a broken answer again, and goes on at a position in another stream', async () => {
    const { model, say, end } = spoken();
    const { coppice } = await stage(FORKS, { models: { spoken: model } });
    const agent = await coppice.start({ prompt: 'x', model: 'spoken' });
    const tell = await say;
    const stream = agent.text();
    const pieces = stream[Symbol.asyncIterator]();
    tell({ type: 'text', text: 'Hel' });
    assert.deepEqual(await next(pieces), { text: 'Hel' });
    tell({ type: 'text', text: 'lo' });
    tell({ type: 'text', text: ', you' });
    assert.deepEqual(await next(pieces), { text: 'lo, you' }, 'what came meanwhile is one piece');
    const { position } = stream;
    tell({ type: 'restart', reason: 'broken' });
    tell({ type: 'text', text: 'Good ' });
    assert.deepEqual(await next(pieces), { text: 'Good ', again: true });
    tell({ type: 'text', text: 'day, all of you' });
    const rest = agent.text({ after: position })[Symbol.asyncIterator]();
    assert.deepEqual(await next(rest), { text: 'all of you' });
    end('Good day, all of you');
    assert.deepEqual([await next(pieces), await next(pieces)], [{ text: 'day, all of you' }, undefined]);
    assert.equal(await next(rest), undefined);
    assert.equal(await all(agent.text()), 'Good day, all of you');
  });

  it('a position within an answer that is heard elsewhere gives nothing until that answer is in the ledger', async () => {
    const database = `sqlite:${join(temporaryFolder(), 'heard.db')}`;
    const { model, say, end } = spoken();
    const first = await stage(FORKS, { database, models: { spoken: model } });
    const agent = await first.coppice.start({ prompt: 'x', model: 'spoken' });
    (await say)({ type: 'text', text: 'Hello' });
    const other = await stage(FORKS, { database });
    const pieces = (await other.coppice.find(agent.id)).text({ after: '1:5' })[Symbol.asyncIterator]();
    const piece = next(pieces);
    end('Hello, you');
    assert.deepEqual([await piece, await next(pieces)], [{ text: ', you' }, undefined]);
  });

  it('is read from the ledger by a process that did not hear it', async () => {
    const database = `sqlite:${join(temporaryFolder(), 'said.db')}`;
    const first = await stage([{ say: 'one answer' }], { database });
    const agent = await first.coppice.start({ prompt: 'x' });
    await agent.result();
    const other = await stage(FORKS, { database });
    const found = await other.coppice.find(agent.id);
    assert.equal(await all(found.text()), 'one answer');
    assert.equal(await all(found.text({ after: '1:4' })), 'answer');
    await assert.rejects(async () => all(found.text({ after: 'yesterday' })), {
      ...{ code: 'E_INVALID_ARGUMENT', message: /is no position/ },
    });
  });

  async function all(stream: Stream<TextPiece>): Promise<string> {
    let text = '';
    for await (const piece of stream) text = piece.again ? piece.text : text + piece.text;
    return text;
  }
});

describe('a stream of events', () => {
  it('tells of every agent and message of the tree once, and goes on at its position', async () => {
    const { coppice } = await stage();
    const agent = await coppice.start({ prompt: 'begin' });
    await agent.result();
    const stream = agent.events();
    const [seen, whole] = [[] as string[], [] as string[]];
    let position = '';
    for await (const event of stream) {
      if (event.type === 'agent') continue;
      seen.push(`${event.agent_id} ${event.message.seq}`);
      if (seen.length === 3) {
        position = stream.position;
        break;
      }
    }
    for await (const event of agent.events({ after: position }))
      if (event.type === 'message') seen.push(`${event.agent_id} ${event.message.seq}`);
    const names = new Set<string>();
    for await (const event of agent.events())
      if (event.type === 'agent') names.add(event.agent.name);
      else whole.push(`${event.agent_id} ${event.message.seq}`);
    assert.deepEqual(seen, whole);
    assert.deepEqual([...names], ['main', 'helper']);
    const helper = await coppice.find('helper');
    for await (const event of helper.events())
      assert.equal(event.type === 'agent' ? event.agent.id : event.agent_id, helper.id);
  });

  it('ends quietly by its signal while agents work', async () => {
    const { coppice, requests } = await stage();
    const agent = await coppice.start({ prompt: 'hang' });
    await until(() => requests.length === 1, 'it is at work');
    const controller = new AbortController();
    const states: string[] = [];
    for await (const event of agent.events({ signal: controller.signal })) {
      if (event.type === 'agent') states.push(event.agent.state.type);
      controller.abort();
    }
    assert.deepEqual(states, ['requesting']);
    await agent.kill();
  });
});
