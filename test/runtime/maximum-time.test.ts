/**
 * Proves that the run time is a maximum, whatever hangs: a provider that accepts a request and sends nothing, or stalls in the middle,
 * gets no second request; tasks beside it are not delayed; what had arrived is kept.
 */
import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import { openModel } from '../../src/models/providers.ts';
import { profileOf } from '../kernel/toolsets/profile-fixture.ts';
import type { Fault } from '../servers/brain.ts';
import { startOpenAiChatServer } from '../servers/openai-chat-server.ts';
import type { ProtocolServer } from '../servers/protocol-server.ts';
import { until } from '../until.ts';
import { onBothDatabases } from './both-databases.ts';
import { HandClock } from './hand-clock.ts';
import { bare, type Play, type Stage, setStage } from './stage.ts';
import { cast, rounds, spawn, submit } from './toolsets/fanout-stage.ts';

/** Faults of the server by the point at which it falls silent, and the text that has arrived by then. */
const SILENCES: Readonly<Record<string, { readonly fault?: Fault; readonly said?: string }>> = {
  'before its headers': {},
  'after its headers': { fault: { stall_after: 0 } },
  'after one token': { fault: { stall_after: 2 }, said: 'Half of ' },
};

const ERROR = 'limit reached: run time of 60 s';

onBothDatabases('the time of a run is a maximum', (database) => {
  let server: ProtocolServer | null = null;
  afterEach(async () => {
    await server?.close();
    server = null;
  });

  /** A stage whose model `slow/m` falls silent in this way; once its first request was sent, its run time is over. */
  async function stage(play: Play, silence: { readonly fault?: Fault }, toolset: string): Promise<Stage> {
    const clock = new HandClock();
    server = await startOpenAiChatServer({
      answer: () =>
        silence.fault === undefined
          ? new Promise(() => undefined)
          : { text: 'Half of the work', pieces: 2, fault: silence.fault },
    });
    const providers = { slow: { type: 'openai-compatible' as const, baseURL: `${server.url}/v1` } };
    const model = await openModel('slow/m', { providers, env: {} });
    const on = await setStage(play, {
      toolsets: [toolset],
      models: { 'slow/m': model },
      clock,
      terms: { profiles: new Map([['slow', profileOf({ name: 'slow', model: 'slow/m', run_ms: 60_000 })]]) },
      database: await database(),
    });
    const breaksOff = JSON.stringify(silence.fault) === '{"stall_after":2}';
    let said = '';
    on.runtime.subscribe((event) => {
      if (event.type === 'delta' && event.delta.type === 'text') said += event.delta.text;
    });
    void until(
      () => server?.exchanges.length === 1 && (!breaksOff || said !== ''),
      'the slow model was asked',
    ).then(() => clock.pass(60_000));
    return on;
  }

  for (const [when, silence] of Object.entries(SILENCES)) {
    const partial = silence.said;

    it(`spawn_agents: the provider falls silent ${when}; the others are there`, async () => {
      const tasks = [
        { task: '1', label: 'stuck', model: 'slow/m', timeout_seconds: 60 },
        { task: '2', label: 'quick' },
      ];
      const on = await stage(cast([() => [spawn(...tasks)]]), silence, 'fanout');
      const { root } = await on.perform();
      const [stuck, quick] = (await rounds(on, root)).flat();
      assert.deepEqual(stuck?.outcome.failure, {
        error: ERROR,
        error_kind: 'timed_out',
        ...(partial === undefined ? {} : { partial }),
      });
      assert.deepEqual(quick?.outcome.success?.result, 'result of quick');
      assert.equal(server?.exchanges.length, 1, 'it is not asked again');
    });
  }

  it('sessions_spawn: the announcement has the partial text', async () => {
    const play: Play = (scene) => {
      const call = [
        'sessions_spawn',
        { task: 't', label: 's', model: 'slow/m', timeoutSeconds: 60 },
      ] as const;
      return scene.step === 0 ? [call] : scene.user;
    };
    const on = await stage(play, { fault: { stall_after: 2 } }, 'sessions');
    const { root, reply } = await on.perform();
    assert.equal(bare(reply ?? ''), `[Subagent: s] Timed out: ${ERROR}\n\nWhat it had by then:\nHalf of `);
    const [run] = await on.store.runs({ root_id: root.id });
    assert.deepEqual([run?.status, run?.result, run?.error], ['timeout', 'Half of ', ERROR]);
    assert.equal(server?.exchanges.length, 1);
  });

  it('subagent_spawn: the run time of its profile applies; the call beside it gets its result', async () => {
    const play: Play = (scene) => {
      if (scene.name === 'quick') return 'quick is done';
      if (scene.step > 0) return scene.last.map(({ output }) => bare(output)).join(' | ');
      return [
        ['subagent_spawn', { task: 't', description: 'stuck', profile: 'slow' }],
        ['subagent_spawn', { task: 't', description: 'quick' }],
      ];
    };
    const on = await stage(play, {}, 'delegate');
    const { reply } = await on.perform();
    assert.equal(reply, `the sub-agent was cut short (timed_out): ${ERROR} | quick is done`);
    assert.equal(server?.exchanges.length, 1);
  });

  it('a root: the turn ends as failed, and a person can retry', async () => {
    const on = await stage(() => submit('never asked'), {}, 'process');
    const root = await on.runtime.start({
      prompt: 'go',
      config: { ...(await on.start()).config, model: 'slow/m' },
      limits: { run_ms: 60_000 },
    });
    const { failure } = await on.runtime.settled(root.id);
    assert.deepEqual(failure, { kind: 'timed_out', error: ERROR, retryable: true });
  });
});
