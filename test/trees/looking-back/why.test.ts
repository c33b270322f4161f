// Proves, on both databases, that a backward slice names what led to an answer: letters, reports, last words, outcomes of every vocabulary, files that others
// wrote, own calls and prompts; that it is short by default, and that it reads little of a large tree.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Store } from '../../../src/store/store.ts';
import { readTool } from '../../../src/tools/files/read.ts';
import { writeTool } from '../../../src/tools/files/write.ts';
import { type WhyQuery, whyDocument } from '../../../src/trees/looking-back/why.ts';
import { onBothDatabases, stagesOn } from '../../runtime/both-databases.ts';
import { approvalStage } from '../../runtime/permissions/approval-stage.ts';
import { forked, type Line, type Play, type Scene, type Stage } from '../../runtime/stage.ts';
import { until } from '../../until.ts';

const TOOLS = { tools: [readTool, writeTool] as never };

/** A slice as indented lines. */
async function told(store: Store, agent: string, query: WhyQuery = {}): Promise<string[]> {
  const { steps } = await whyDocument(store, agent, query);
  const lines: string[] = [];
  const tell = (index: number, depth: number): void => {
    const { agent: name, seq, how, text, into, again, left_out } = steps[index] as (typeof steps)[number];
    const words = text
      .replaceAll(/\s+/g, ' ')
      .replace(/ → .*/, '')
      .replace(/^\/.*\//, '')
      .slice(0, 40);
    const marks = `${again ? ' again' : ''}${left_out === 0 ? '' : ` +${left_out}`}`;
    lines.push(
      `${' '.repeat(depth)}${name ?? 'you'} ${seq} ${how}${into === null ? '' : `>${into}`}: ${words}${marks}`,
    );
    for (const [at, { led_to }] of steps.entries()) if (led_to === index) tell(at, depth + 1);
  };
  tell(0, 0);
  return lines;
}

const cast =
  (lines: Readonly<Record<string, readonly ((scene: Scene) => Line)[]>>): Play =>
  (scene) =>
    lines[scene.name]?.[scene.step]?.(scene) ?? `last words of ${scene.name}`;

it('tells why a call waits for a person', async () => {
  const on = await approvalStage(({ step }) => (step === 0 ? [['act', { what: 'it' }]] : 'done'), undefined);
  try {
    const root = await on.start('clean up');
    const [ask] = await on.asked(root);
    for (const call of [ask?.id.slice(0, 8) ?? '', ask?.call_id ?? ''])
      assert.deepEqual(await told(on.store, root.id, { call }), [
        'main 2 asked: act it',
        ' you 1 prompt>1: clean up',
      ]);
  } finally {
    await on.close();
  }
});

onBothDatabases('why', (database) => {
  const stage = stagesOn(database, TOOLS);

  it('goes through letters, files, last words and own calls to the prompts', async () => {
    const on = await stage(
      cast({
        main: [
          () => [
            ['fork', { name: 'writer', prompt: 'write the notes' }],
            ['fork', { name: 'silent', prompt: 'say nothing' }],
          ],
          (scene) => [['wait', { timeout: 60, from_agents: forked(scene) }]],
          () => [['read', { path: 'notes.txt' }]],
          () => [['fork', { name: 'reader', prompt: 'read the notes' }]],
          (scene) => [['wait', { timeout: 60, from_agents: forked(scene) }]],
          () => 'it is all in the notes',
        ],
        writer: [
          () => [['write', { path: 'notes.txt', content: 'first\nsecond\n' }]],
          (scene) => [['send', { to: scene.parent_id, message: 'notes are written' }]],
        ],
        reader: [
          () => [['read', { path: 'notes.txt' }]],
          () => [['read', { path: 'missing.txt' }]],
          (scene) => [['send', { to: scene.parent_id, message: 'I have read them' }]],
        ],
      }),
    );
    const { root } = await on.perform('take notes');
    assert.deepEqual(await told(on.store, root.id), [
      'main 13 asked: it is all in the notes',
      ' reader 15 letter>12: I have read them',
      '  writer 4 file>12: notes.txt',
      '   main 2 created>3: write the notes',
      '    you 1 prompt>1: take notes',
      '  main 9 created>10: read the notes',
      '   writer 4 file>8: notes.txt again',
      '   you 1 prompt>1: take notes',
      ' silent 4 end>12: last words of silent',
      '  main 2 created>3: say nothing again',
      ' writer 6 letter>6: notes are written',
      '  main 2 created>3: write the notes again',
      ' you 1 prompt>1: take notes',
    ]);
    const reader = await on.agent('reader');
    assert.deepEqual(await told(on.store, reader.id, { message: 15 }), [
      'reader 15 asked: send '.concat(root.id.slice(0, 35)),
      ' reader 13 call>14: read missing.txt (error)',
      ' writer 4 file>12: notes.txt',
      '  main 2 created>3: write the notes',
      '   you 1 prompt>1: take notes',
      ' main 9 created>10: read the notes',
      '  writer 4 file>8: notes.txt again',
      '  silent 4 end>6: last words of silent',
      '   main 2 created>3: say nothing again',
      '  writer 6 letter>6: notes are written',
      '   main 2 created>3: write the notes again',
      '  you 1 prompt>1: take notes',
    ]);
    const [call] = (await on.results(reader)).map(({ call_id }) => call_id);
    const by_call = await whyDocument(on.store, root.id, { call: call ?? '' });
    assert.deepEqual(
      [by_call.call_id, by_call.steps[0]?.agent, by_call.steps[0]?.seq, by_call.steps[0]?.text],
      [call, 'reader', 11, 'read notes.txt'],
    );
    await assert.rejects(whyDocument(on.store, root.id, { call: 'no-such-call' }), {
      code: 'E_CALL_NOT_FOUND',
    });
    await assert.rejects(whyDocument(on.store, root.id, { message: 99 }), /main has no message 99/);
    await on.runtime.send(reader.id, 'who wrote them?');
    await on.runtime.settled(root.id);
    assert.deepEqual((await told(on.store, reader.id)).slice(0, 3), [
      'reader 19 asked: last words of reader',
      ' you 18 prompt>18: who wrote them?',
      ' main 9 created>10: read the notes',
    ]);
  });

  it('tells of an agent that has not answered what it was told', async () => {
    const on = await stage(({ name, step }) => {
      if (name === 'mute') return new Promise(() => undefined);
      return step === 0 ? [['fork', { name: 'mute', prompt: 'be quiet' }]] : 'done';
    });
    const root = await on.start('go');
    await until(async () => (await on.store.find('mute')).length === 1, 'it is there');
    assert.deepEqual((await told(on.store, 'mute')).slice(1), [
      ' main 2 created>3: be quiet',
      '  you 1 prompt>1: go',
    ]);
    await on.runtime.kill(root.id, 'the test');
  });

  it('goes through the outcomes of fan-outs, awaited sub-agents and background runs', async () => {
    const on = await stage(
      cast({
        main: [
          () => [
            [
              'spawn_agents',
              {
                tasks: [
                  { task: 'count', label: 'counter' },
                  { task: 'ask', label: 'asker' },
                ],
              },
            ],
          ],
          () => [['subagent_spawn', { task: 'how many?', description: 'question' }]],
          () => [['sessions_spawn', { task: 'look into it', label: 'runner' }]],
          () => 'I wait for the run',
          () => 'three, and the run is over',
        ],
        counter: [() => [['submit_result', { result: 'three' }]]],
        asker: [() => [['submit_error', { error: 'nobody knows' }]]],
      }),
      { toolsets: ['fanout', 'sessions', 'delegate'] },
    );
    const { root } = await on.perform('count them');
    assert.deepEqual(await told(on.store, root.id), [
      'main 11 asked: three, and the run is over',
      ' runner 2 end>10: last words of runner',
      '  main 7 created>1: look into it',
      '   question 2 end>6: last words of question',
      '    main 5 created>1: how many?',
      '     counter 2 end>4: submit_result three',
      '      main 2 created>1: count',
      '       you 1 prompt>1: count them',
      '     asker 2 end>4: submit_error nobody knows',
      '      main 2 created>1: ask again',
      '     you 1 prompt>1: count them',
      '   you 1 prompt>1: count them',
      ' you 1 prompt>1: count them',
    ]);
  });

  it('is short in a large tree and reads little of it, unless all is asked for', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `kid-${index}`);
    const ended = async () =>
      (await on.store.agents({})).filter(({ state }) => state.type === 'completed').length;
    const tasks = names.map((label) => ({ task: `do ${label}`, label }));
    const on: Stage = await stage(
      async ({ name, step }) => {
        if (name === 'main') return step === 0 ? [['spawn_agents', { tasks }]] : 'all are back';
        // The outcomes of the first leave the mailbox one by one.
        if (name === 'kid-19') await until(async () => (await ended()) > 14, 'most have ended');
        return [['submit_result', { result: `result of ${name}` }]];
      },
      { toolsets: ['fanout'] },
    );
    const { root } = await on.perform('all of them', { children: 100, live: 100, total: 100 });
    let reads = 0;
    const counting = {
      ...on.store,
      history: (...given: Parameters<Store['history']>) => {
        reads += 1;
        return on.store.history(...given);
      },
    };
    const short = await whyDocument(counting, root.id, {});
    assert.deepEqual(
      [short.steps.length, short.steps[0]?.left_out, short.whole, short.steps.at(-1)?.text],
      [13, 15, false, 'all of them'],
    );
    assert.ok(reads < 30, `${reads} reads`);
    const all = await whyDocument(on.store, root.id, { all: true });
    assert.deepEqual([all.steps.filter(({ how }) => how === 'end').length, all.whole], [20, true]);
  });
});
