// Proves on both databases that a delegated task ends with exactly one result, however it ends: interrupt, kill, failure, timeout, a lost process.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { profileOf } from '../../kernel/toolsets/profile-fixture.ts';
import { until } from '../../until.ts';
import { onBothDatabases, stagesOn } from '../both-databases.ts';
import { HandClock } from '../hand-clock.ts';
import { hangTool } from '../hang-tool.ts';
import { bare, type Play } from '../stage.ts';
import { ask, delegation, echo, fixedModel, hang, never, play, spawn } from './delegate-play.ts';

onBothDatabases('endings of delegated tasks', (database) => {
  const stage = stagesOn(database, { toolsets: ['delegate'] });

  it('an interrupt of the parent reaches all sub-agents, also nested ones; later results are dropped', async () => {
    const reached: string[] = [];
    const on = await stage(
      play([() => [spawn('upper'), spawn('other')]], {
        upper: () => [spawn('lower')],
        other: hang(reached, 'other'),
        lower: hang(reached, 'lower'),
      }),
    );
    const root = await on.start();
    await until(() => reached.length === 2, 'all are at work');
    await on.runtime.interrupt(root.id, 'enough');
    const { root: stopped } = await on.runtime.settled(root.id);
    assert.equal(stopped.state.type, 'idle');
    const results = await on.results(root);
    assert.deepEqual(
      results.map(({ status, output }) => [status, bare(output)]),
      [
        ['cancelled', 'Cancelled: enough'],
        ['cancelled', 'Cancelled: enough'],
      ],
    );
    for (const name of ['upper', 'other', 'lower']) {
      const { state } = await on.agent(name);
      assert.equal(state.type === 'failed' && state.failure.kind, 'cancelled', name);
    }
    const runs = await on.store.runs({ root_id: root.id });
    assert.deepEqual(
      runs.map((run) => [run.status, run.error]),
      [1, 2, 3].map(() => ['cancelled', 'enough']),
    );
    await on.runtime.send(root.id, 'go on');
    assert.equal((await on.runtime.settled(root.id)).reply, 'done');
    assert.equal((await on.results(root)).length, 2);
  });

  it('a killed sub-agent and its descendants are an error result; the others continue', async () => {
    const reached: string[] = [];
    const on = await stage(
      play([() => [spawn('doomed'), spawn('fine')]], {
        doomed: () => [spawn('below')],
        below: hang(reached, 'below'),
      }),
    );
    const root = await on.start();
    await until(() => reached.length === 1, 'the nested one is at work');
    const [doomed, below] = [await on.agent('doomed'), await on.agent('below')];
    assert.deepEqual(await on.runtime.kill(doomed.id), [doomed.id, below.id]);
    const outcome = await on.runtime.settled(root.id);
    assert.equal(outcome.reply, 'done');
    const [killed, fine] = await on.results(root);
    assert.equal(killed?.status, 'error');
    assert.match(killed?.output ?? '', /killed/i);
    assert.equal(bare(fine?.output ?? ''), 'report of fine');
    const runs = await on.store.runs({ root_id: root.id });
    assert.deepEqual(runs.map((run) => `${run.label} ${run.status}`).sort(), [
      'below cancelled',
      'doomed cancelled',
      'fine completed',
    ]);
  });

  it('sub-agents that fail, flood, or hang past their time give three results, each with what there was', async () => {
    const flood = 'water '.repeat(200_000);
    const profile = { name: 'hasty', run_ms: 60_000 };
    const clock = new HandClock();
    const on = await stage(
      play([() => [spawn('failing'), spawn('flooding'), spawn('hanging', { profile: 'hasty' })]], {
        failing: (scene) => {
          if (scene.step === 0) return [['echo', { text: 'x' }]];
          throw new Error('the model is away');
        },
        flooding: () => flood,
        hanging: (scene) => (scene.step === 0 ? [['hang', {}]] : 'half of it'),
      }),
      {
        tools: [echo, hangTool(() => clock.pass(45_000))],
        clock,
        terms: { profiles: new Map([[profile.name, profileOf(profile)]]) },
      },
    );
    const { root } = await on.perform();
    const [failing, flooding, hanging] = await on.results(root);
    assert.equal(failing?.status, 'error');
    assert.match(failing?.output ?? '', /no_model.*the model is away/);
    assert.deepEqual([flooding?.status, bare(flooding?.output ?? '') === flood], ['ok', true]);
    assert.equal(hanging?.status, 'error');
    assert.match(hanging?.output ?? '', /timed_out[\s\S]*What it had by then:\nhalf of it/);
    const runs = new Map((await on.store.runs({ root_id: root.id })).map((run) => [run.label, run]));
    assert.deepEqual(
      ['failing', 'flooding', 'hanging'].map((label) => runs.get(label)?.status),
      ['failed', 'completed', 'timeout'],
    );
    assert.equal(runs.get('hanging')?.result, 'half of it');
  });

  it('when a model breaks off, the result is the error and the partial text', async () => {
    const failure = { kind: 'network' as const, error: 'the stream broke', retryable: true };
    const broken = fixedModel('acp:one', { type: 'failure', failure, partial: 'so far so good' });
    const on = await stage(play([() => [ask('breaking')]]), {
      terms: delegation({ servers: ['one'] }),
      models: { 'acp:one': broken },
    });
    const { root } = await on.perform();
    const [result] = await on.results(root);
    assert.equal(result?.status, 'error');
    assert.match(result?.output ?? '', /the stream broke[\s\S]*What it had by then:\nso far so good/);
  });

  it('when the run time of the parent ends, the sub-agent is stopped and the parent answers with what it has', async () => {
    const clock = new HandClock();
    const on = await stage(
      (scene) => {
        if (scene.name === 'main')
          return scene.step === 0 ? [spawn('slow')] : `last words after ${scene.last[0]?.status}`;
        clock.pass(45_000);
        return never();
      },
      { clock },
    );
    const { reply } = await on.perform('go', { run_ms: 60_000 });
    assert.equal(reply, 'last words after cancelled');
    const { state } = await on.agent('slow');
    assert.equal(state.type === 'failed' && state.failure.kind, 'cancelled');
  });

  it('when the process dies while sub-agents work, each parked call gets one result from the successor', async () => {
    const reached: string[] = [];
    const script = (live: boolean): Play =>
      play([() => [spawn('quick'), spawn('upper')]], {
        upper: (scene) =>
          scene.step === 0 ? [spawn('lower')] : `upper heard: ${bare(scene.last[0]?.output ?? '')}`,
        lower: () => {
          reached.push('lower');
          return live ? 'found' : never();
        },
      });
    const on = await stage(script(false));
    const root = await on.start();
    await until(
      async () => reached.length === 1 && (await on.results(root)).length === 1,
      'lower is at work',
    );
    const next = await on.reopen(script(true));
    const report = await next.runtime.resume(root.id);
    assert.deepEqual(report.agents.map((agent) => agent.name).sort(), ['lower', 'main', 'upper']);
    const { reply, agents } = await next.runtime.settled(root.id);
    assert.equal(reply, 'done');
    assert.equal(agents.length, 4);
    assert.deepEqual(
      (await next.results(root)).map((result) => bare(result.output)),
      ['report of quick', 'upper heard: found'],
    );
    const history = await next.store.history(root.id);
    assert.equal(history.filter((message) => message.kind === 'result').length, 2);
    assert.equal(new Set((await next.store.runs({ root_id: root.id })).map((run) => run.status)).size, 1);
  });

  it('an outcome that arrived while no process led the parent is there for the next leader', async () => {
    const reached: string[] = [];
    const on = await stage(play([() => [spawn('doomed')]], { doomed: hang(reached, 'here') }));
    const root = await on.start();
    await until(() => reached.length === 1, 'the sub-agent is at work');
    const doomed = await on.agent('doomed');
    const next = await on.reopen();
    await next.store.kill(doomed.id, 'you', Date.now());
    await next.runtime.resume(root.id);
    assert.equal((await next.runtime.settled(root.id)).reply, 'done');
    const results = await next.results(root);
    assert.equal(results.length, 1);
    assert.match(results[0]?.output ?? '', /killed/i);
  });
});
