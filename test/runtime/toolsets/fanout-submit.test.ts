// Proves on both databases how children of a `fanout` end: submissions are checked and can be corrected, with one reminder, and schemas are enforced.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { z } from 'zod';
import type { Tool } from '../../../src/records/tool.ts';
import { defineTool } from '../../../src/tools/define-tool.ts';
import { type Database, onBothDatabases, stagesOn } from '../both-databases.ts';
import { brief, cast, errorOf, never, rounds, spawn, submit } from './fanout-stage.ts';

const ISSUES = {
  type: 'object',
  required: ['issues'],
  additionalProperties: false,
  properties: { issues: { type: 'array', items: { type: 'string' } } },
};

function suite(database: Database): void {
  const stage = stagesOn(database, { toolsets: ['fanout'] });

  it('submitting is an error in a conversation that no parent awaits', async () => {
    const on = await stage(
      cast([
        () => [
          ['submit_result', { result: 'x' }],
          ['submit_error', { error: 'x' }],
        ],
      ]),
    );
    const { root, reply } = await on.perform();
    for (const result of await on.results(root)) assert.equal(errorOf(result).code, 'NOT_AVAILABLE');
    assert.equal(reply, 'done');
  });

  it('a submission beside other calls is made after them; if one of them failed, the child sees that first and submits again', async () => {
    let looks = 0;
    const look = defineTool({
      name: 'look',
      description: 'Counts.',
      input: z.strictObject({}),
      run: () => {
        looks += 1;
        if (looks === 1) throw new Error('nothing there');
        return 'seen';
      },
    }) as Tool;
    const on = await stage(
      cast([() => [spawn({ task: '1', label: 'kid' })]], {
        kid: (scene) =>
          scene.step === 0
            ? [
                ['submit_result', { result: 'too early' }],
                ['look', {}],
              ]
            : scene.step === 1
              ? [
                  ['submit_result', { result: 'seen' }],
                  ['look', {}],
                ]
              : never(),
      }),
      { tools: [look] },
    );
    const { root } = await on.perform();
    assert.deepEqual((await rounds(on, root)).flat().map(brief), ['seen']);
    assert.equal(looks, 2);
    const results = await on.results(await on.agent('kid'));
    assert.deepEqual(
      results.map(({ name, status, output }) => `${name} ${status} ${output}`),
      [
        'submit_result error {"error":{"code":"NOT_AVAILABLE","message":"submit_result: not submitted: another call of this message failed. See to that, then submit again."}}',
        'look error nothing there',
        'submit_result ok Submitted after the other calls of the message.',
        'look ok seen',
        'submit_result ok submitted',
      ],
    );
    assert.equal(
      on.requests.filter(({ agent }) => agent.name === 'kid').length,
      2,
      'the model is not asked again',
    );
  });

  it('a child that stops without a word is reminded once, one that answers in words has said its result, and its parent reads that it submitted nothing', async () => {
    const on = await stage(
      cast([() => [spawn({ task: '1', label: 'late' }, { task: '2', label: 'mute' })]], {
        late: (scene) => (scene.step === 0 ? '' : submit(`reminded: ${scene.user}`)),
        mute: (scene) => `Text ${scene.step}.`,
      }),
    );
    const { root } = await on.perform();
    const [rows = []] = await rounds(on, root);
    assert.match(brief(rows[0] as never), /^reminded: Nothing is submitted yet: .* Call submit_result/);
    const note = 'it ended without submit_result; this is all that it wrote';
    assert.deepEqual(rows[1]?.outcome, {
      success: { result: 'Text 0.', note },
    });
  });

  it('a child that only announces a call is asked for it once, and no word is lost', async () => {
    const orders: string[] = [];
    const on = await stage(
      cast([() => [spawn({ task: '1', label: 'slow' })]], {
        slow: (scene) => {
          orders.push(scene.user);
          return ['I will read the file first.', 'All is well.'][scene.step] as string;
        },
      }),
    );
    const { root } = await on.perform();
    const [rows = []] = await rounds(on, root);
    assert.match(
      orders[1] ?? '',
      /^You announced a call and made none\. .*call submit_result with your whole result\.$/,
    );
    assert.equal(orders.length, 2);
    assert.deepEqual(rows[0]?.outcome, {
      success: {
        result: 'I will read the file first.\n\nAll is well.',
        note: 'it ended without submit_result; this is all that it wrote',
      },
    });
  });

  it('a result that has a note gets no second one of the same name', async () => {
    const on = await stage(
      cast([() => [['spawn_agents', { tasks: [{ task: '1', label: 'one', subagent_type: 'Explore' }] }]]], {
        one: () => submit('fine'),
      }),
    );
    const { root } = await on.perform();
    const output = (await on.results(root))[0]?.output ?? '';
    assert.equal(output.split('"note"').length, 2, output);
    assert.match(
      output,
      /Their results come together in one message when all are in\. subagent_type was ignored/,
    );
  });

  it('invalid arguments of submit_result are reported, and the child can correct them', async () => {
    const on = await stage(
      cast([() => [spawn({ task: '1', label: 'kid' })]], {
        kid: (scene) => [submit(null), submit(' '), submit('good')][scene.step] ?? never(),
      }),
    );
    const { root } = await on.perform();
    assert.deepEqual((await rounds(on, root)).flat().map(brief), ['good']);
    const results = await on.results(await on.agent('kid'));
    for (const result of results.slice(0, 2)) {
      assert.equal(errorOf(result).code, 'INVALID_ARG');
      assert.match(errorOf(result).message, /"result"/);
    }
  });

  it('output_schema: the child is told the schema; every mismatch says what is wrong until it fits', async () => {
    const on = await stage(
      cast([() => [spawn({ task: 'Count issues.', label: 'kid', output_schema: ISSUES })]], {
        kid: (scene) =>
          [
            submit('three issues'),
            submit('{"issues": [1, 2]}'),
            submit({ found: 3 }),
            submit('{"issues": ["a", "b"]}'),
          ][scene.step] ?? never(),
      }),
    );
    const { root } = await on.perform();
    assert.deepEqual((await rounds(on, root)).flat().map(brief), ['{"issues": ["a", "b"]}']);
    const kid = await on.agent('kid');
    const faults = (await on.results(kid)).slice(0, 3).map((result) => errorOf(result).message);
    assert.match(faults[0] ?? '', /it cannot be parsed/);
    assert.match(faults[1] ?? '', /\/issues\/0 must be string; \/issues\/1 must be string/);
    assert.match(
      faults[2] ?? '',
      /must have required property 'issues'; .*must NOT have additional properties/,
    );
    const task = on.requests.find(({ agent }) => agent.id === kid.id)?.messages[0];
    assert.ok(task?.role === 'user');
    assert.ok(task.text.startsWith('Count issues.\n\n') && task.text.includes(JSON.stringify(ISSUES)));
    const [row] = (await rounds(on, root)).flat();
    assert.equal(row?.task, 'kid', 'the parent reads the label, not the whole task again');
  });

  it('output_schema: accepts the value itself instead of JSON text', async () => {
    const on = await stage(
      cast([() => [spawn({ task: 'x', label: 'kid', output_schema: ISSUES })]], {
        kid: () => submit({ issues: ['a'] }),
      }),
    );
    const { root } = await on.perform();
    assert.deepEqual((await rounds(on, root)).flat().map(brief), ['{"issues":["a"]}']);
  });

  it('output_schema: the same mismatch three times in a row ends the child with that error', async () => {
    const on = await stage(
      cast([() => [spawn({ task: 'x', label: 'kid', output_schema: ISSUES })]], { kid: () => submit('no') }),
    );
    const { root } = await on.perform();
    const [row] = (await rounds(on, root)).flat();
    assert.equal(row?.outcome.failure?.error_kind, 'repeated_failure');
    assert.match(row?.outcome.failure?.error ?? '', /submit_result failed 3 times.*cannot be parsed/);
    assert.equal((await on.results(await on.agent('kid'))).length, 3);
  });

  it('output_schema: submit_error needs no schema', async () => {
    const on = await stage(
      cast([() => [spawn({ task: 'x', label: 'kid', output_schema: ISSUES })]], {
        kid: () => [['submit_error', { error: 'nothing to count' }]],
      }),
    );
    const { root } = await on.perform();
    assert.deepEqual((await rounds(on, root)).flat().map(brief), ['sub_agent_error: nothing to count']);
  });
}

onBothDatabases('submissions', suite);
