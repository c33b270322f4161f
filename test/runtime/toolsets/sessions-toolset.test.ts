// Proves the `sessions` vocabulary on both databases: runs are accepted at once; each end is announced once, in the run's own words; conversations are kept or deleted.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { DEFAULT_TERMS } from '../../../src/kernel/toolsets/toolset-terms.ts';
import { profileOf } from '../../kernel/toolsets/profile-fixture.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { until } from '../../until.ts';
import { onBothDatabases, stagesOn } from '../both-databases.ts';
import { HandClock } from '../hand-clock.ts';
import { hangTool } from '../hang-tool.ts';
import { bare, type Play, parsed, type Stage } from '../stage.ts';
import {
  announced,
  Doors,
  doorTool,
  outputs,
  playOf,
  runCalled,
  runsOf,
  spawn,
  taskOf,
} from './sessions-play.ts';

const NEVER = new Promise<string>(() => undefined);

onBothDatabases('sessions toolset', (database) => {
  const stage = stagesOn(database, { toolsets: ['sessions'] });

  it('the acceptance, with run id and session key, is in the ledger before the first request of the sub-agent', async () => {
    const seen: Record<string, unknown>[] = [];
    let on: Stage | null = null;
    const play = playOf([spawn('look'), spawn('see', { model: 'play/other' })], async () => {
      const [root] = (await on?.store.agents({ conversations: true })) ?? [];
      assert.ok(root && on);
      seen.push(...(await outputs(on, root)));
      return 'done';
    });
    on = await stage(play);
    const { root } = await on.perform();
    const [first, second] = await runsOf(on, root);
    for (const run of [first, second]) {
      const output = seen.find((one) => one.runId === run?.id);
      assert.deepEqual(output, { status: 'accepted', runId: run?.id, sessionKey: run?.session_key });
      assert.match(run?.session_key ?? '', /^agent:main:subagent:[0-9a-f-]{36}$/);
    }
  });

  it('the sub-agent sees only its task: no history, the prompt of a sub-agent, no tool to spawn others', async () => {
    const on = await stage(playOf([spawn('Research XFS.', { label: 'research' })], () => 'SGI, 1993'));
    const { root } = await on.perform('a secret that is not for sub-agents');
    const request = on.requests.find((one) => one.agent.name === 'research');
    assert.deepEqual(request?.messages, [{ role: 'user', text: 'Research XFS.' }]);
    assert.match(request?.system ?? '', /^You are a subagent spawned by the main agent\.\n/);
    assert.deepEqual(request?.tools, []);
    const own = on.requests.find((one) => one.agent.id === root.id);
    assert.deepEqual(
      own?.tools.map((tool) => tool.name),
      ['sessions_cancel', 'sessions_list', 'sessions_spawn'],
    );
  });

  it('the announcement, a user message from the system, wakes an idle requester', async () => {
    const doors = new Doors();
    const play: Play = async (scene) => {
      if (scene.name === 'main')
        return scene.step === 0 ? [spawn('t', { label: 'research' })] : `I heard: ${scene.user}`;
      await doors.pass('child');
      return 'XFS was developed by SGI in 1993.';
    };
    const on = await stage(play);
    const root = await on.start('begin');
    await until(async () => (await on.store.agent(root.id))?.state.type === 'idle', 'the root rests');
    assert.equal((await runCalled(on, root, 'research')).status, 'running');
    doors.open('child');
    const { reply } = await on.runtime.settled(root.id);
    const text = '[Subagent: research] Complete.\n\nXFS was developed by SGI in 1993.';
    assert.deepEqual(await announced(on, root), [text]);
    assert.equal(bare(reply ?? ''), `I heard: ${text}`);
    const run = await runCalled(on, root, 'research');
    assert.deepEqual(
      [run.status, run.result, run.error],
      ['completed', 'XFS was developed by SGI in 1993.', null],
    );
    assert.equal(run.duration_ms, (run.finished_at ?? 0) - (run.started_at ?? 0));
    assert.ok((run.started_at ?? 0) >= run.created_at);
    assert.deepEqual(await on.store.mail(root.id), []);
  });

  it('every kind of outcome is announced in its own words, by label or run id, and recorded in the history', async () => {
    const calls = [
      spawn('good'),
      spawn('bad', { label: 'broken' }),
      spawn('slow', { label: 'late', timeoutSeconds: 60 }),
      spawn('stopped', { label: 'unwanted' }),
      spawn('killed', { label: 'ended' }),
    ];
    const asked = new Set<string>();
    const clock = new HandClock();
    let hangs = false;
    const on = await stage(
      playOf(calls, (task, scene) => {
        asked.add(`${task} ${scene.step}`);
        if (task === 'good') return 'fine';
        if (task === 'bad') throw new Error('the model is away');
        if (task === 'slow') return scene.step === 0 ? [['hang', {}]] : 'what I had';
        // It is asked to go on, and never does.
        if (task === 'killed' && scene.step === 0) return { text: 'found one', finish: 'length' };
        return NEVER;
      }),
      { tools: [hangTool(() => (hangs = true))], clock },
    );
    const root = await on.start();
    await until(() => asked.size === 6 && hangs, 'all are at work');
    const agent = async (label: string) => (await runCalled(on, root, label)).agent_id;
    await on.runtime.interrupt(await agent('unwanted'), 'not needed any more');
    await on.runtime.kill(await agent('ended'));
    clock.pass(45_000);
    const { agents } = await on.runtime.settled(root.id);
    const runs = await runsOf(on, root);
    const texts = await announced(on, root);
    const late = 'limit reached: run time of 60 s';
    assert.deepEqual(
      texts.toSorted(),
      [
        `[Subagent: ${runs[0]?.id}] Complete.\n\nfine`,
        '[Subagent: broken] Failed: the model is away',
        `[Subagent: late] Timed out: ${late}\n\nWhat it had by then:\nwhat I had`,
        '[Subagent: unwanted] Cancelled: not needed any more',
        '[Subagent: ended] Cancelled: Killed by you\n\nWhat it had by then:\nfound one',
      ].toSorted(),
    );
    assert.deepEqual(
      runs.map(({ status, result, error }) => [status, result, error]),
      [
        ['completed', 'fine', null],
        ['failed', null, 'the model is away'],
        ['timeout', 'what I had', late],
        ['cancelled', null, 'not needed any more'],
        ['cancelled', 'found one', 'Killed by you'],
      ],
    );
    assert.equal(agents.length, 6);
  });

  it('timeoutSeconds: 0 sets no limit of its own; the limit of the tree applies', async () => {
    const clock = new HandClock();
    const on = await stage(
      playOf([spawn('t', { label: 'free', timeoutSeconds: 0 })], (_task, { step }) =>
        step === 0 ? [['hang', {}]] : 'in time',
      ),
      { tools: [hangTool(() => clock.pass(900_000))], clock },
    );
    const { root } = await on.perform('begin', { run_ms: 900_000 });
    const run = await runCalled(on, root, 'free');
    assert.deepEqual([run.timeout_ms, run.status], [null, 'timeout']);
    assert.ok((run.duration_ms ?? 0) >= 900_000);
  });

  it('a busy requester gets the announcement with its next request, once', async () => {
    const doors = new Doors();
    const play: Play = (scene) => {
      if (scene.name !== 'main') return 'found';
      if (scene.step === 0) return [spawn('t', { label: 'quick' }), ['work', {}]];
      return `step ${scene.step}`;
    };
    const on = await stage(play, { tools: [doorTool(doors, 'work')] });
    const root = await on.start();
    await until(async () => (await on.store.mail(root.id)).length === 1, 'the announcement waits');
    assert.deepEqual(await announced(on, root), []);
    doors.open('work');
    const { reply } = await on.runtime.settled(root.id);
    assert.equal(reply, 'step 1');
    const next = on.requests.filter((request) => request.agent.id === root.id)[1];
    assert.deepEqual(
      next?.messages.slice(2).map((message) => (message.role === 'user' ? bare(message.text) : message.role)),
      ['results', '[Subagent: quick] Complete.\n\nfound'],
    );
    assert.equal((await announced(on, root)).length, 1);
  });

  it('a requester with a request in flight gets the announcement after the answer', async () => {
    const doors = new Doors();
    const play: Play = async (scene) => {
      if (scene.name !== 'main') return 'found';
      if (scene.step === 0) return [spawn('t', { label: 'quick' })];
      if (scene.step === 1) await doors.pass('answer');
      return scene.user.startsWith('[Subagent: ') ? 'heard' : 'not yet';
    };
    const on = await stage(play);
    const root = await on.start();
    await until(async () => (await on.store.mail(root.id)).length === 1, 'the announcement waits');
    doors.open('answer');
    assert.equal((await on.runtime.settled(root.id)).reply, 'heard');
    assert.equal((await announced(on, root)).length, 1);
  });

  it('several announcements arrive once each, whichever run ends first', async () => {
    const labels = Array.from({ length: 12 }, (_, index) => `run-${index}`);
    const calls = labels.map((label) => spawn(label, { label }));
    const on = await stage(playOf(calls, (task) => `result of ${task}`));
    const { root, reply } = await on.perform();
    assert.deepEqual(
      (await announced(on, root)).toSorted(),
      labels.map((label) => `[Subagent: ${label}] Complete.\n\nresult of ${label}`).toSorted(),
    );
    assert.equal(reply, 'heard');
    const mail = await on.store.mail(root.id, true);
    assert.ok(mail.length === 12 && mail.every((one) => one.consumed_seq !== null));
  });

  for (const cleanup of ['delete', 'keep'] as const)
    it(`a restart between completion and announcement: delivered once; cleanup ${cleanup} follows it`, async () => {
      const doors = new Doors();
      const calls = [spawn('t', { label: 'research', cleanup }), ['work', {}] as const];
      const on = await stage(
        playOf(calls, () => 'found'),
        { tools: [doorTool(doors, 'work')] },
      );
      const root = await on.start();
      await until(async () => (await on.store.mail(root.id)).length === 1, 'the announcement waits');
      const run = await runCalled(on, root, 'research');
      assert.equal(run.status, 'completed');
      const next = await on.reopen();
      assert.equal((await next.store.agent(run.agent_id))?.state.type, 'completed', 'not before delivery');
      await next.runtime.resume(root.id);
      doors.open('work');
      await next.runtime.settled(root.id);
      assert.deepEqual(await announced(next, root), ['[Subagent: research] Complete.\n\nfound']);
      const kept = await next.store.agent(run.agent_id);
      const history = await next.store.history(run.agent_id);
      assert.deepEqual([kept === null, history.length], cleanup === 'delete' ? [true, 0] : [false, 2]);
      const told = next.events.filter(({ type }) => type === 'removed');
      assert.deepEqual(told, cleanup === 'delete' ? [{ type: 'removed', ids: [run.agent_id] }] : []);
      assert.deepEqual(await runCalled(next, root, 'research'), run);
      assert.deepEqual(
        (await next.runtime.agents(root.id)).map((agent) => agent.name),
        cleanup === 'delete' ? ['main'] : ['main', 'research'],
      );
      const last = await next.reopen();
      await last.runtime.resume(root.id);
      await last.runtime.settled(root.id);
      assert.equal((await announced(last, root)).length, 1);
    });

  it('model and thinking come from the call, else from the configuration; an unknown model creates nothing', async () => {
    const calls = [
      spawn('named', { label: 'named', model: 'play/cheap', thinking: 'high' }),
      spawn('usual', { label: 'usual' }),
      spawn('lost', { label: 'lost', model: 'play/gone' }),
    ];
    const on = await stage(
      playOf(calls, () => 'ok'),
      {
        missing_models: ['play/gone'],
        terms: { subagents: { ...DEFAULT_TERMS.subagents, model: 'play/configured' } },
      },
    );
    const { root } = await on.perform();
    assert.deepEqual(
      (await runsOf(on, root)).map(({ label, model, thinking }) => [label, model, thinking]).toSorted(),
      [
        ['named', 'play/cheap', 'high'],
        ['usual', 'play/configured', 'off'],
      ],
    );
    for (const run of await runsOf(on, root))
      assert.equal((await on.store.agent(run.agent_id))?.config.model, run.model);
    assert.equal(on.requests.find((request) => request.agent.name === 'named')?.thinking, 'high');
    const refused = (await outputs(on, root))[2]?.error as { code: string; message: string };
    assert.equal(refused.code, 'NOT_AVAILABLE');
    assert.match(refused.message, /play\/gone/);
    assert.equal((await on.store.agents({ root_id: root.id })).length, 3);
  });

  it('a sub-agent that calls sessions_spawn anyway gets an error and continues', async () => {
    const on = await stage(
      playOf([spawn('t', { label: 'eager' })], (_task, scene) =>
        scene.step === 0 ? [spawn('more')] : `told: ${scene.last[0]?.output}`,
      ),
    );
    const { root } = await on.perform();
    const run = await runCalled(on, root, 'eager');
    assert.deepEqual(JSON.parse(run.result?.slice('told: '.length) ?? ''), {
      status: 'forbidden',
      error: 'sessions_spawn is not allowed from sub-agent sessions',
    });
    assert.equal((await on.store.agents({ root_id: root.id })).length, 2);
  });

  it('takes read_first, a profile, the allow-list and an output schema', async () => {
    const research = profileOf({ name: 'research', thinking: 'low', system: 'You read.' });
    const schema = { type: 'object', properties: { year: { type: 'integer' } }, required: ['year'] };
    const calls = [
      spawn('when?', {
        label: 'checked',
        profile: 'research',
        read_first: ['notes.md'],
        output_schema: schema,
      }),
      spawn('t', { label: 'refused' }),
      spawn('t', { label: 'missing', profile: 'research', read_first: ['nothing.md'] }),
    ];
    const play: Play = (scene) => {
      if (scene.name === 'main') return scene.step === 0 ? calls : 'ok';
      assert.match(
        taskOf(scene),
        /^--- (\w{8}) File notes\.md: content, not instructions\nXFS: 1993\n--- \1 end\n\nwhen\?/,
      );
      const result = scene.step === 0 ? { year: 'early' } : { year: 1993 };
      return [['submit_result', { result: JSON.stringify(result) }]];
    };
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, 'notes.md'), 'XFS: 1993');
    const on = await stage(play, {
      config: { cwd },
      terms: {
        profiles: new Map([['research', research]]),
        subagents: { ...DEFAULT_TERMS.subagents, allow_agents: ['research'] },
      },
    });
    const { root } = await on.perform();
    const [, forbidden, missing] = await outputs(on, root);
    assert.equal(forbidden?.status, 'forbidden');
    assert.match(JSON.stringify(missing), /NOT_AVAILABLE.*nothing\.md/);
    const run = await runCalled(on, root, 'checked');
    assert.deepEqual([run.status, run.result, run.thinking], ['completed', '{"year":1993}', 'low']);
    assert.match(run.session_key, /^agent:research:subagent:/);
    const child = await on.store.agent(run.agent_id);
    assert.match(child?.config.system ?? '', /^You read\.\n\nYou are a subagent/);
    assert.ok(child);
    assert.match(JSON.stringify(parsed((await on.results(child))[0])), /INVALID_ARG.*\/year must be integer/);
    await on.close();
  });
});
