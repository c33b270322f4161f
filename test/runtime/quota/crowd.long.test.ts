// Proves that a limit in the middle of 334 agents costs no finished work: all wait, one tries, and every call has run exactly once; with a restart in between.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isWorking } from '../../../src/records/agent/state.ts';
import { outcomeOf } from '../../../src/records/run/outcome.ts';
import { answerFor } from '../../servers/forking-brain.ts';
import { until } from '../../until.ts';
import { alwaysOnBothDatabases } from '../both-databases.ts';
import { HandClock } from '../hand-clock.ts';
import { setStage } from '../stage.ts';
import { echoTool, limitedServer, REFUSALS } from './limited-server.ts';

const CHILDREN = 334;

alwaysOnBothDatabases('334 agents and a limit in the middle', (database) => {
  it('finish after it', { timeout: 180_000 }, async () => {
    const [server, clock, effects] = [await limitedServer(), new HandClock(), [] as string[]];
    const stage = await setStage(() => 'unused', {
      ...{
        database: await database(),
        models: await server.models(clock.now),
        tools: [echoTool(effects)],
        clock,
      },
      config: { model: 'one/any' },
    });
    server.refuse('key-one', REFUSALS.hour, 700);
    const { id } = await stage.start(`FORK ${CHILDREN}`, { children: 400, live: 400, total: 400 });
    await until(async () => {
      const agents = await stage.store.agents({ root_id: id });
      return agents.length > CHILDREN && agents.every((agent) => outcomeOf(agent).outcome !== 'working');
    }, 'all wait');
    const sent = server.asked.length;
    assert.ok(sent < 700 + CHILDREN, `only what was under way is refused: ${sent}`);
    const next = await stage.reopen(undefined, { models: await server.models(clock.now) });
    await next.runtime.resume(id, { unattended: true });
    assert.equal(server.asked.length, sent);
    server.allow('key-one');
    clock.pass(3_700_000);
    const { reply, agents } = await next.runtime.settled(id);
    assert.equal(reply, answerFor(CHILDREN));
    assert.deepEqual([new Set(effects).size, effects.length], [3 * CHILDREN, 3 * CHILDREN]);
    assert.ok(agents.every(({ state }) => !isWorking(state.type) && state.type !== 'errored'));
  });
});
