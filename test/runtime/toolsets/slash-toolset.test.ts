// Proves the commands of the `slash` vocabulary on both databases: fork, send and kill, and errors that say what to write instead.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { DEFAULT_TERMS } from '../../../src/kernel/toolsets/toolset-terms.ts';
import type { Agent } from '../../../src/records/agent/agent.ts';
import type { Limits } from '../../../src/records/agent/limits.ts';
import { createBuiltInTools } from '../../../src/tools/tool-registry.ts';
import { profileOf } from '../../kernel/toolsets/profile-fixture.ts';
import { until } from '../../until.ts';
import { onBothDatabases, stagesOn } from '../both-databases.ts';
import type { Line, Play, Scene, StageOptions } from '../stage.ts';
import { errorOf, forkedIds, quoted, reader, shownLetters, slash, UUID } from './slash-stage.ts';

const NO_RULES = { allow: [], ask: [], deny: [] };
const ASKS = { cli: { ...NO_RULES, allow: ['slash'], ask: ['bash'] }, config: NO_RULES };

/** A play in which the root follows `lines`, then reads its mail at each notice; all others follow `child`. */
function play(lines: readonly ((scene: Scene) => Line)[], child: Play = () => 'resting'): Play {
  return (scene) => {
    if (scene.name !== 'main') return child(scene);
    return (lines[scene.step] ?? reader)(scene) as ReturnType<Play>;
  };
}

onBothDatabases('slash', (database) => {
  const stage = stagesOn(database, { toolsets: ['slash'] });

  it('fork without a prompt inherits the whole context: siblings share every byte up to their identity', async () => {
    const on = await stage(
      play([() => [slash('check-mail')], () => [slash('fork'), slash('/slash fork')], () => 'done']),
    );
    const { root, agents } = await on.perform('the secret is 42');
    const ids = (await on.results(root)).slice(1, 3).map((result) => result.output);
    assert.equal(ids.length, 2);
    for (const id of ids) assert.match(id, UUID, 'the output is just the UUID');
    assert.deepEqual(new Set(ids), new Set(agents.slice(1).map((agent) => agent.id)));
    const first = ids.map((id) => on.requests.find((request) => request.agent.id === id));
    const prefixes = first.map((request) => request?.messages.slice(0, request.shared_prefix) ?? []);
    assert.equal(JSON.stringify(prefixes[0]), JSON.stringify(prefixes[1]));
    assert.match(JSON.stringify(prefixes[0]), /the secret is 42.*no mail.*Not for you/);
    for (const id of ids) assert.equal(JSON.stringify(prefixes[0]).includes(id), false);
    const own = on.requests.filter((request) => request.agent.id === root.id)[2];
    assert.equal(
      JSON.stringify(own?.messages.slice(0, (prefixes[0]?.length ?? 0) - 1)),
      JSON.stringify(prefixes[0]?.slice(0, -1)),
      'the parent goes on with the same bytes',
    );
    for (const [index, request] of first.entries()) {
      assert.equal(request?.messages.length, (request?.shared_prefix ?? 0) + 1);
      const identity = request?.messages.at(-1);
      assert.ok(identity?.role === 'user');
      assert.ok(identity.text.includes(`UUID ${ids[index]}`));
      assert.match(identity.text, /your last words are your report/);
      assert.ok(identity.text.includes(`slash {"command":"send ${root.id} {`));
      assert.equal(JSON.stringify(request?.tools), JSON.stringify(own?.tools));
      assert.equal(request?.system, own?.system);
    }
  });

  it('fork with a prompt starts with only that prompt, and knows the UUID of its parent', async () => {
    const task = 'Research "A"\n  and \'B\' \\ 🌳.\n\nThen report.';
    const on = await stage(play([() => [slash(`fork ${task}`), slash('fork "look at\n  this"')]]));
    const { root } = await on.perform('the secret is 42');
    const ids = (await on.results(root)).map((result) => result.output);
    for (const [index, prompt] of [task, 'look at\n  this'].entries()) {
      const request = on.requests.find((one) => one.agent.id === ids[index]);
      assert.equal(request?.shared_prefix, 0);
      assert.equal(request?.messages.length, 1);
      const [only] = request?.messages ?? [];
      assert.ok(only?.role === 'user');
      assert.equal(JSON.stringify(request?.messages).includes('secret'), false);
      assert.ok(only.text.includes(`(UUID ${ids[index]}). Your parent has the UUID ${root.id}.`));
      assert.ok(only.text.endsWith(`Your task:\n${prompt}`));
    }
  });

  it('fork does not block: the turn of the parent ends while its children work', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<string>();
    const on = await stage(play([() => [slash('fork one'), slash('fork two')]], () => released));
    const root = await on.start();
    await until(async () => (await on.store.agent(root.id))?.state.type === 'idle', 'the root rests');
    const states = async () =>
      (await on.store.agents({ parent_id: root.id })).map((agent) => agent.state.type);
    assert.deepEqual(await states(), ['requesting', 'requesting']);
    release('done');
    await on.runtime.settled(root.id);
    assert.deepEqual(await states(), ['idle', 'idle']);
  });

  it('a message arrives unchanged: quotes, newlines, any Unicode', async () => {
    const nasty = [
      'it\'s "quoted"',
      'a\n\n  b\n',
      '\\n \\ $HOME `x` $(y)',
      '🌳👩‍👩‍👧é\u0301\u202e\u2028\ufeff',
      '-- --flag',
      '{"a": "it\'s"}',
    ];
    const random = fc.sample(fc.string({ unit: 'binary', minLength: 1 }), { numRuns: 30, seed: 5 });
    const texts = [...nasty, ...random.map((text) => text.replaceAll('\0', '').toWellFormed())].filter(
      (text) => text.trim() !== '',
    );
    const on = await stage(
      play([
        () => [slash('fork listen')],
        (scene) => texts.map((text) => slash(`send ${forkedIds(scene)[0]} ${text}`)),
      ]),
    );
    const { root } = await on.perform();
    const [forked, ...all] = await on.results(root);
    const sent = all.slice(0, texts.length);
    for (const result of sent) assert.equal(result.output, `sent to ${forked?.output}`);
    const letters = await on.store.mail(forked?.output ?? '', true);
    assert.deepEqual(
      letters.map((letter) => letter.body),
      texts,
    );
  });

  it('characters of a message that no ledger can store are replaced; only a completion for the parent loses its enclosing quotes', async () => {
    const done = '{"status":"idle","success":true,"summary":"it\'s done"}';
    const cases: readonly (readonly [string, string])[] = [
      ['nul \0 here', 'nul \u2400 here'],
      ['half \ud83c', 'half \ufffd'],
      [done, done],
      [quoted(done), done],
      [`"${done}"`, done],
      [`"${done.replaceAll('"', '\\"')}"`, done],
      ['\'{"a": 1}\'', '\'{"a": 1}\''],
      ['{status} of "idle" {x}', '{status} of "idle" {x}'],
    ];
    const on = await stage(
      play([() => [slash('fork report')]], (scene) =>
        scene.step === 0 ? cases.map(([text]) => slash(`send ${scene.parent_id} ${text}`)) : 'resting',
      ),
    );
    const { root } = await on.perform();
    const letters = await on.store.mail(root.id, true);
    assert.deepEqual(
      letters.map((letter) => letter.body),
      cases.map(([, body]) => body),
    );
  });

  it('refuses several commands in one call: none is run, and no child gets a merged prompt', async () => {
    const both = '/slash fork "Research A"\n/slash fork "Research B"\n# Later\n/slash check-mail';
    const on = await stage(play([() => [slash(both), slash('fork ""')]]));
    const { root, agents } = await on.perform();
    const [several, empty] = (await on.results(root)).map(errorOf);
    assert.match(several?.message ?? '', /line 2 is another one: .*make one call for each/);
    assert.match(empty?.message ?? '', /the PROMPT is empty: leave it out/);
    assert.equal(agents.length, 1);
  });

  it('the usage of fork names the options that can be used, with the names of profiles', async () => {
    const usageOf = async (options: Partial<StageOptions>, limits: Partial<Limits> = {}) => {
      const on = await stage(play([() => [['slash', { command: 'fork --help' }]]]), options);
      const { root } = await on.perform('go', limits);
      return errorOf((await on.results(root))[0]).message.split('Usage: ')[1];
    };
    const subagents = { ...DEFAULT_TERMS.subagents, models: [] };
    assert.equal(await usageOf({ terms: { subagents } }), 'fork [PROMPT]');
    const profiles = new Map(['explore', 'work'].map((name) => [name, profileOf({ name })]));
    const asked = { ...subagents, models: ['other/m'], parameters: ['read_first'] };
    assert.equal(
      await usageOf({ terms: { profiles, subagents: asked } }, { tokens: 9_000 }),
      'fork [--profile explore|work] [--model other/m] [--read-first FILE]… [--budget usd=N,tokens=N,seconds=N] [PROMPT]',
    );
  });

  it('errors show the usage line or, for an unknown command, all commands, and nothing happens', async () => {
    const all = /\nfork \[--model NAME\] \[PROMPT\]\nsend UUID MESSAGE\ncheck-mail\nkill UUID…$/;
    const cases: readonly (readonly [unknown, string, RegExp])[] = [
      [{ command: 'spawn x' }, 'UNKNOWN_COMMAND', /unknown command "spawn"/],
      [{ command: 'spawn x' }, 'UNKNOWN_COMMAND', all],
      [{ command: ' /slash ' }, 'UNKNOWN_COMMAND', all],
      [{ command: '' }, 'UNKNOWN_COMMAND', /no command/],
      [{ command: 'toString' }, 'UNKNOWN_COMMAND', all],
      [{ command: 'send' }, 'INVALID_ARG', /the UUID is missing. Usage: send UUID MESSAGE$/],
      [{ command: 'send main' }, 'INVALID_ARG', /the MESSAGE is empty. Usage: send UUID MESSAGE$/],
      [{ command: 'send main \n' }, 'INVALID_ARG', /the MESSAGE is empty/],
      [{ command: 'send nobody hi' }, 'AGENT_NOT_FOUND', /nobody/],
      [{ command: 'send main hi' }, 'CANNOT_SEND_TO_SELF', /yourself/],
      [{ command: '/slash check-mail now' }, 'INVALID_ARG', /no arguments. Usage: check-mail$/],
      [{ command: 'kill' }, 'INVALID_ARG', /the UUID is missing. Usage: kill UUID…$/],
      [{ command: 'kill a b' }, 'AGENT_NOT_FOUND', /"a"/],
      [{ command: 'kill nobody' }, 'AGENT_NOT_FOUND', /nobody/],
      [{ command: 'fork --profile' }, 'INVALID_ARG', /NAME of the profile is missing. Usage: fork/],
      [{ command: 'fork --profile none x' }, 'NO_PROFILE', /no profile "none"/],
      [{}, 'INVALID_ARG', /"command"/],
      [{ command: 'fork', prompt: 'x', colour: 'red' }, 'INVALID_ARG', /colour/],
      ['{"command": ', 'INVALID_ARG', /not valid JSON/],
    ];
    const on = await stage(play([() => cases.map(([input]) => ['slash', input] as const)]));
    const { root, agents } = await on.perform();
    const results = await on.results(root);
    for (const [index, [input, code, message]] of cases.entries()) {
      assert.equal(results[index]?.status, 'error');
      assert.equal(errorOf(results[index]).code, code, JSON.stringify(input));
      assert.match(errorOf(results[index]).message, message);
    }
    assert.equal(agents.length, 1);
    assert.deepEqual(await on.store.mail(root.id, true), []);
  });

  it('a message is a message: any JSON arrives as written, and only an own child completes', async () => {
    const done =
      '{"status": "idle", "success": true, "summary": "s", "order": 12345678901234567890, "tests": {"red": [2]}}';
    const texts = [
      `{"status": 404, "url": "/x"}`,
      `{"success": false}`,
      `{"status": "idle", "success": true}`,
      `{"status": "idle", "success": true, "summary": "an "open" quote"}`,
      `{status: idle, success: true, summary: s}`,
    ];
    const on = await stage(
      play(
        [() => [slash('fork report')], (scene) => [slash(`send ${forkedIds(scene)[0]} ${done}`)]],
        (scene) =>
          scene.step === 0
            ? [...texts, done].map((text) => slash(`send ${scene.parent_id} ${text}`))
            : reader(scene),
      ),
    );
    const { root } = await on.perform();
    const outputs = async (agent: Agent) => (await on.results(agent)).map(({ output }) => output).join('\n');
    const letters = shownLetters(await on.results(root));
    assert.deepEqual(
      letters.flatMap(({ message }) => message ?? []),
      texts,
    );
    assert.ok(
      (await outputs(root)).includes(`"completion":${done}`),
      'nothing is dropped, no number is rounded',
    );
    const [child] = await on.store.agents({ parent_id: root.id });
    const told = shownLetters(await on.results(child ?? root));
    assert.deepEqual(
      told.map(({ message }) => message),
      [done],
      'what a parent writes is no completion',
    );
  });

  it('commands that a child writes as text, or into bash, are not lost: the text is the call, the shell says the call', async () => {
    const on = await stage(
      play([() => [slash('fork work')]], (scene) => {
        if (scene.step === 0) return [['bash', { command: `/slash send ${scene.parent_id} '{"a": 1}'` }]];
        if (scene.step === 1)
          return `I am done.\n\n/slash send ${scene.parent_id} {"status": "idle", "success": true, "summary": "all of it"}`;
        return 'resting';
      }),
      { tools: createBuiltInTools(), can_ask: true, config: { permissions: ASKS } },
    );
    const { root } = await on.perform();
    const [child] = await on.store.agents({ parent_id: root.id });
    const [shell, sent] = await on.results(child ?? root);
    assert.equal(
      shell?.output,
      `this is no command of the shell, and nothing was run. Call the tool slash:\nslash {"command":"send ${root.id} '{\\"a\\": 1}'"}`,
    );
    assert.equal(sent?.output, `sent to ${root.id}: this was your report, end your turn`);
    assert.deepEqual(
      shownLetters(await on.results(root)).map((letter) => letter.completion),
      [{ status: 'idle', success: true, summary: 'all of it' }],
    );
    assert.deepEqual(await on.store.asks({ root_id: root.id }), [], 'nobody is asked about it');
  });

  it('a report that a child writes as its last words, in a code block or not, is its report', async () => {
    const said = { status: 'idle', success: false, error: 'no such file' };
    for (const text of [JSON.stringify(said), `\`\`\`json\n${JSON.stringify(said, null, 1)}\n\`\`\``]) {
      const on = await stage(play([() => [slash('fork work')], () => 'waits'], () => text));
      const { root } = await on.perform();
      const letters = shownLetters(await on.results(root));
      assert.deepEqual(
        letters.map(({ completion }) => completion),
        [said],
      );
    }
  });

  it('the last words of a child whose calls are off stay its words, whatever they are', async () => {
    const text = (id: string | null) =>
      `/slash send ${id} {"status": "idle", "success": true, "summary": "late"}`;
    const on = await stage(
      play([() => [slash('fork work')]], (scene) =>
        scene.step === 0 ? [slash('check-mail')] : text(scene.parent_id),
      ),
      { config: { turns: 1 } },
    );
    const { root } = await on.perform();
    const letters = await on.store.mail(root.id, true);
    assert.match(letters.map(({ body }) => body).join(), /late/);
  });

  it('kill ends descendants with all of theirs; self, root, parent and siblings are refused', async () => {
    const on = await stage(
      play([() => [slash('fork top'), slash('fork side')], () => 'resting'], (scene) => {
        if (scene.name === 'side') return 'resting';
        const side = on.requests.find((request) => request.agent.name === 'side')?.agent.id;
        if (scene.name === 'top') return scene.step === 0 ? [slash('fork leaf')] : 'resting';
        if (scene.step > 0) return 'resting';
        return [scene.id, scene.parent_id, 'main', side].map((id) => slash(`kill ${id}`));
      }),
    );
    const { root } = await on.perform();
    const [top, side, leaf] = [await on.agent('top'), await on.agent('side'), await on.agent('leaf')];
    const codes = (await on.results(leaf)).map((result) => errorOf(result).code);
    assert.deepEqual(codes, [
      'CANNOT_KILL_SELF',
      'CANNOT_KILL_PARENT',
      'CANNOT_KILL_ROOT',
      'NOT_A_DESCENDANT',
    ]);
    for (const agent of [root, top, side, leaf])
      assert.equal((await on.store.agent(agent.id))?.state.type, 'idle');
    const next = await on.reopen((scene) => {
      const after = scene.request.messages.findLastIndex(
        (message) => message.role === 'user' && message.text === 'end it',
      );
      const answers = scene.request.messages
        .slice(after)
        .filter((message) => message.role === 'assistant').length;
      if (answers === 0) return [slash(`kill ${top.id}`)];
      return answers === 1 ? [slash(`kill ${top.id}`), slash(`send ${leaf.id} hello`)] : 'done';
    });
    await next.runtime.resume(root.id);
    await next.runtime.send(root.id, 'end it');
    await next.runtime.settled(root.id);
    const [killed, again, sent] = (await next.results(root)).slice(-3);
    assert.equal(killed?.output, `killed ${top.id} ${leaf.id}`);
    assert.deepEqual([errorOf(again).code, errorOf(sent).code], ['ALREADY_DEAD', 'ALREADY_DEAD']);
    for (const id of [top.id, leaf.id])
      assert.partialDeepStrictEqual((await next.store.agent(id))?.state, { type: 'killed', by: 'main' });
    assert.equal((await next.store.agent(side.id))?.state.type, 'idle');
  });
});
