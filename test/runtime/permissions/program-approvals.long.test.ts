/**
 * Proves on both databases, with a real program, that permission requests of an agent program are in the queue of approvals: with a diff, subject to grants,
 * with the clock of the turn paused, and withdrawn when nothing waits for them any more.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { openModel } from '../../../src/models/providers.ts';
import type { Agent } from '../../../src/records/agent/agent.ts';
import type { Ask, AskAnswer } from '../../../src/records/conversation/ask.ts';
import { createBuiltInTools } from '../../../src/tools/tool-registry.ts';
import { closeLater } from '../../close-opened.ts';
import { until } from '../../until.ts';
import { alwaysOnBothDatabases, stagesOn } from '../both-databases.ts';
import type { Stage, StageOptions } from '../stage.ts';

const PROGRAM = join(import.meta.dirname, '../../servers/acp-agent.ts');
const RULES = { allow: ['read', 'fork', 'wait'], ask: ['write', 'bash'], deny: ['write:secret*'] };
const tools = createBuiltInTools().filter(({ spec }) =>
  ['read', 'write', 'bash', 'search'].includes(spec.name),
);

alwaysOnBothDatabases('approvals of agent programs', (database) => {
  const stage = stagesOn(database);

  async function programs(): Promise<Pick<StageOptions, 'models'>> {
    const program = { command: process.execPath, args: [PROGRAM] };
    const model = await openModel('acp:test', {
      providers: {},
      env: process.env,
      acp: { programs: { test: program }, sandboxFor: async () => null, servers: new Map() },
    });
    closeLater(async () => model.close?.());
    return { models: { 'acp:test': model } };
  }

  async function open(over: StageOptions = {}): Promise<Stage> {
    return stage(() => 'never asked', {
      can_ask: true,
      tools,
      ...(await programs()),
      ...over,
      config: {
        model: 'acp:test',
        permissions: { cli: RULES, config: { allow: [], ask: [], deny: [] } },
        ...over.config,
      },
    });
  }

  async function openAsks(on: Stage, count = 1): Promise<readonly Ask[]> {
    await until(
      async () => (await on.store.asks({ open: true })).length === count,
      `${count} open questions`,
    );
    return on.store.asks({ open: true });
  }

  async function answer(on: Stage, given: Pick<AskAnswer, 'verdict'> & Partial<AskAnswer>): Promise<void> {
    const [ask] = await openAsks(on);
    await on.runtime.answer(ask?.id ?? '', { scope: 'once', note: '', ...given });
  }

  const reply = async (on: Stage, root: Agent): Promise<string> => (await on.runtime.settled(root.id)).reply;

  it('a write waits with its difference; once allowed, it happens, and what was allowed is not asked twice', async () => {
    const on = await open();
    const root = await on.start('write a.txt new');
    const place = join(root.config.cwd, 'a.txt');
    const [ask] = await openAsks(on);
    assert.deepEqual(
      [ask?.tool, ask?.subject, ask?.agent_id, ask?.rule],
      ['write', 'a.txt', root.id, 'ask(write)'],
    );
    assert.match(ask?.difference ?? '', /^\+new$/m);
    assert.equal(existsSync(place), false);
    const asking = await on.store.agent(root.id);
    assert.ok(asking?.state.type === 'requesting' && asking.state.asked?.[0]?.id === ask?.id);
    await answer(on, { verdict: 'allow' });
    assert.equal(await reply(on, root), 'written');
    assert.equal(readFileSync(place, 'utf8'), 'new');
    const events = (await on.store.history(root.id)).flatMap((one) =>
      one.kind === 'event' ? [one.content.text] : [],
    );
    assert.deepEqual(events, ['asked: write a.txt', 'allowed by you: write']);
  });

  it('a denial reaches the program with its note, and is told; a deny rule asks nobody', async () => {
    const on = await open();
    const root = await on.start('ask all execute {"rawInput": {"command": "rm -rf build"}}');
    const [ask] = await openAsks(on);
    assert.deepEqual(
      [ask?.tool, ask?.subject, ask?.input],
      ['bash', 'rm -rf build', '{"command":"rm -rf build"}'],
    );
    await answer(on, { verdict: 'deny', note: 'not today' });
    assert.match(await reply(on, root), /^reject/);
    await on.runtime.send(root.id, 'write secret.txt x');
    assert.match(
      (await on.runtime.settled(root.id)).failure?.error ?? (await reply(on, root)),
      /deny\(write:secret\*\)/,
    );
    assert.equal((await on.store.asks({})).length, 1);
  });

  it('a grant for the agent covers what it asks later', async () => {
    const on = await open();
    const root = await on.start('write a.txt one');
    await answer(on, { verdict: 'allow', scope: 'agent', rule: 'write' });
    assert.equal(await reply(on, root), 'written');
    await on.runtime.send(root.id, 'write b.txt two');
    assert.equal(await reply(on, root), 'written');
    assert.equal((await on.store.asks({})).length, 1);
  });

  it('an interrupt withdraws the question, and so does a kill', async () => {
    const on = await open();
    const root = await on.start('write a.txt new');
    await openAsks(on);
    await on.runtime.interrupt(root.id, 'enough');
    await on.runtime.settled(root.id);
    assert.deepEqual(
      (await on.store.asks({})).map(({ verdict }) => verdict),
      ['void'],
    );
    await on.runtime.send(root.id, 'write a.txt again');
    await openAsks(on);
    await on.runtime.kill(root.id);
    await openAsks(on, 0);
    assert.equal(existsSync(join(root.config.cwd, 'a.txt')), false);
  });

  it('whoever takes over asks again: the old question is withdrawn', async () => {
    const on = await open();
    const root = await on.start('write a.txt new');
    const [before] = await openAsks(on);
    const again = await on.reopen(undefined, await programs());
    await again.runtime.resume(root.id);
    await until(async () => {
      const open = await again.store.asks({ open: true });
      return open.length === 1 && open[0]?.id !== before?.id;
    }, 'it asks again');
    assert.equal((await again.store.findAsks(before?.id ?? ''))[0]?.verdict, 'void');
    await answer(again, { verdict: 'allow' });
    assert.equal(await reply(again, root), 'written');
  });

  it('where nobody can be asked, it is refused as before', async () => {
    const on = await open({ can_ask: false });
    writeFileSync(join((await on.start('read x')).config.cwd, 'x'), 'x');
    const { reply: said, failure } = await on.perform('write a.txt new');
    assert.match(failure?.error ?? said, /needs approval \(ask\(write\)\) and nobody can give it/);
    assert.deepEqual(await on.store.asks({}), []);
  });
});
