// Proves what the globals of a workflow script do, and that the interpreter shows the script nothing that a replay would not show again.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openScript } from '../../src/models/workflow/script-run.ts';
import type { ScriptCall } from '../../src/models/workflow/script-step.ts';
import { entryOf, firstStep, META, play, resultOf, setupOf, withRun } from './played-script.ts';

const NULLS = ({ prompt }: ScriptCall) =>
  prompt.includes('fail')
    ? ({ type: 'failed', reason: 'no answer' } as const)
    : prompt.includes('skip')
      ? ({ type: 'skipped', reason: 'by a person' } as const)
      : ({ type: 'value', value: { of: prompt } } as const);

it('agent() gives the result, or null for an agent that failed or was skipped, and says why', async () => {
  const body = `phase('P')
    const one = await agent('do', { label: 'l', model: 'haiku', schema: { type: 'object' }, effort: null })
    const all = [await agent('fail 1', { label: 'x', phase: 'Q' }), await agent('skip 1')]
    let thrown; try { await agent('fail 2', { onFailure: 'throw', label: 'y' }) } catch (error) { thrown = error.message }
    return { one, all, thrown, failures: agent.failures() }`;
  const { calls, last, events } = await play(setupOf(body), NULLS);
  assert.deepEqual(calls[0], {
    ...{ type: 'call', number: 1, kind: 'agent', prompt: 'do', phase: 'P', label: 'l', line: 3, after: 0 },
    options: { model: 'haiku', schema: { type: 'object' } },
    key: calls[0]?.key,
  });
  assert.equal(calls[1]?.phase, 'Q');
  assert.deepEqual(events[0], { type: 'phase', title: 'P', after: 0 });
  assert.ok(last.type === 'done');
  assert.deepEqual(JSON.parse(last.result), {
    one: { of: 'do' },
    all: [null, null],
    thrown: 'y failed: no answer',
    failures: [
      { label: 'x', phase: 'Q', reason: 'no answer', skipped: false },
      { label: null, phase: 'P', reason: 'by a person', skipped: true },
      { label: 'y', phase: 'P', reason: 'no answer', skipped: false },
    ],
  });
});

it('a key is the hash of prompt and options, with the occurrence among equals; label and phase are no part of it', async () => {
  const body = `await parallel([() => agent('a', { label: '1' }), () => agent('a', { phase: 'p' }), () => agent('a', { model: 'm' }), () => agent('b')])`;
  const { calls } = await play(setupOf(body));
  const [first, second, third, fourth] = calls.map(({ key }) => key.split(':'));
  assert.deepEqual([first?.[1], second?.[1], third?.[1], fourth?.[1]], ['1', '2', '1', '1']);
  assert.equal(first?.[0], second?.[0]);
  assert.equal(new Set([first?.[0], third?.[0], fourth?.[0]]).size, 3);
});

it('parallel never rejects, pipeline has no barrier; an entry that throws is null, with a notice', async () => {
  const body = `const all = await parallel([() => agent('a'), () => { throw new Error('boo') }, async () => { throw 'text' }, agent('b'), () => 4, () => null])
    const order = []
    const piped = await pipeline(['x', 'y', 'z'],
      (previous, item, index) => agent(previous + item + index),
      (previous, item, index) => { order.push(index); if (item === 'y') throw new Error('not y'); return [previous, item, index] },
      (previous) => previous)
    return { all, piped, order, empty: [await parallel([]), await pipeline([], () => 1)] }`;
  const { last, events } = await play(setupOf(body), undefined, (pending) => pending.at(-1) ?? 0);
  assert.ok(last.type === 'done');
  assert.deepEqual(JSON.parse(last.result), {
    all: ['did a', null, null, 'did b', 4, null],
    piped: [['did xx0', 'x', 0], null, ['did zz2', 'z', 2]],
    order: [2, 1, 0],
    empty: [[], []],
  });
  const notices = events.flatMap((event) => (event.type === 'notice' ? [[event.text, event.line]] : []));
  assert.deepEqual(notices, [
    ['parallel(): entry 1 is null, because it threw: Error: boo', 2],
    ['parallel(): entry 2 is null, because it threw: text', null],
    ['pipeline(): entry 1 is null, because it threw: Error: not y', 6],
  ]);
});

it('more than 4,096 entries and more agents than a run may have are errors that say so', async () => {
  const body = `const said = []
    for (const run of [() => parallel(Array(4097).fill(() => 1)), () => pipeline(Array(4097).fill(1), (x) => x), () => parallel('no list'), () => agent('')])
      await run().catch((error) => said.push(error.message))
    said.push((await parallel(Array(4096).fill(() => 1))).length)
    const some = await parallel([1, 2, 3, 4].map((n) => () => agent('n' + n)))
    return { said, some, failures: agent.failures().length }`;
  const result = await resultOf(setupOf(body, { limits: { agents: 3 } }));
  assert.deepEqual(result, {
    said: [
      'parallel() takes 4096 entries at most, and was given 4097',
      'pipeline() takes 4096 entries at most, and was given 4097',
      'parallel() needs a list',
      'agent() needs a prompt, a text',
      4096,
    ],
    some: ['did n1', 'did n2', 'did n3', null],
    failures: 1,
  });
});

it('calls that nothing awaits come to an end at the limit of calls, also where the script catches every error', async () => {
  for (const [body, message] of [
    ["for (;;) agent('z')", 'this run may call agent() 20 times at most'],
    ['for (;;) agent()', 'agent() is called more than 20000 times without waiting for a result'],
    ['for (;;) sleep(1)', 'sleep() is called more than 20000 times without waiting for a result'],
    ["for (;;) try { agent('z') } catch {}", 'this run may call agent() 20 times at most'],
    ["for (;;) try { log('z') } catch {}", 'it asks for and says more than 20000 things at once'],
  ] as const) {
    const { state } = await firstStep(setupOf(body, { limits: { agents: 20 } }));
    assert.ok(state.type === 'failed');
    assert.deepEqual([state.failure.message, state.failure.line], [`RangeError: ${message}`, 2]);
  }
});

it('an unknown option is a notice; a value that would change what the agent does is an error', async () => {
  const body = `const said = []
    for (const options of [{ isolation: 'container' }, { context: 'all' }, { schema: 'x' }, { budget: -1 }, { continue: 1 }, { onFailure: 'ask' }, { schema: { a() {} } }])
      await agent('a', options).catch((error) => said.push(error.message))
    await agent('a', { lable: 'x', model: 7, isolation: 'worktree', context: 'fork', continue: 'z', budget: 0.5 })
    return said`;
  const { calls, events, last } = await play(setupOf(body));
  assert.ok(last.type === 'done');
  assert.deepEqual(
    JSON.parse(last.result).map((text: string) => /^agent\(\): (\w+)/.exec(text)?.[1]),
    ['isolation', 'context', 'schema', 'budget', 'continue', 'onFailure', 'schema'],
  );
  assert.deepEqual(
    calls.map(({ options }) => options),
    [{ isolation: 'worktree', context: 'fork', continue: 'z', budget: 0.5 }],
  );
  assert.deepEqual(
    events.flatMap((event) => (event.type === 'notice' ? [event.text] : [])),
    [
      'agent(): the option "lable" is unknown and ignored. Did you mean label?',
      'agent(): model is no text, and is ignored',
    ],
  );
});

it('args arrive as they were given', async () => {
  const body = 'return [typeof args, args === null, args]';
  assert.deepEqual(await resultOf(setupOf(body)), ['undefined', false, null]);
  assert.deepEqual(await resultOf(setupOf(body, { args: null })), ['object', true, null]);
  const args = JSON.parse(
    '{"__proto__": {"a": 1}, "text": "\\u2028 `$ {x}` \\\\ \' \\" </script>", "list": [1]}',
  );
  assert.deepEqual(await resultOf(setupOf(body, { args })), ['object', false, args]);
  assert.deepEqual(await resultOf(setupOf('return [{}.a, Object.keys(args)[0]]', { args })), [
    null,
    '__proto__',
  ]);
});

it('clock, time zone, random numbers and budget are those of the run', async () => {
  const body = `const at = () => [Date.now(), new Date().toISOString(), new Date(2026, 0, 1).getTime(), new Date().getTimezoneOffset(), budget.total, budget.spent(), budget.remaining()]
    const first = at(); const random = [Math.random(), Math.random()]
    await agent('a')
    return { first, second: at(), random, gone: [typeof performance, typeof WeakRef, typeof process, typeof require, typeof fetch] }`;
  const setup = setupOf(body, { budget: { total: 4, spent: 0 } });
  const result = (await resultOf(setup)) as Record<string, readonly unknown[]>;
  assert.deepEqual(result.first, [1767323045000, '2026-01-02T03:04:05.000Z', 1767225600000, 0, 4, 0, 4]);
  assert.deepEqual(result.second?.slice(0, 2), [1767323046000, '2026-01-02T03:04:06.000Z']);
  assert.deepEqual(result.second?.slice(4), [10, 1, 9]);
  assert.deepEqual(result.gone, Array(5).fill('undefined'));
  assert.deepEqual(await resultOf(setup), result);
  const other = (await resultOf({ ...setup, seed: 'other' })) as typeof result;
  assert.notDeepEqual(other.random, result.random);
  for (const value of result.random ?? []) assert.ok(Number(value) >= 0 && Number(value) < 1);
});

it('a time zone of the machine is not that of a script', { timeout: 20_000 }, async () => {
  const before = process.env.TZ;
  process.env.TZ = 'America/New_York';
  try {
    const body =
      'return [new Date(2026, 6, 1).getTime(), new Date(0).getHours(), Date.parse("2026-07-01T00:00:00"), String(new Date(0))]';
    assert.deepEqual(await resultOf(setupOf(body)), [
      1782864000000,
      0,
      1782864000000,
      'Thu Jan 01 1970 00:00:00 GMT+0000',
    ]);
  } finally {
    if (before === undefined) delete process.env.TZ;
    else process.env.TZ = before;
  }
});

it('timers, waits, questions, messages and workflows are calls; a cleared timer needs no result', async () => {
  const body = `const done = []
    const timer = setTimeout(() => done.push('never'), 9000)
    setTimeout((what) => done.push(what), 1500, 'late')
    clearTimeout(timer); clearTimeout(undefined)
    await sleep(2); await until('2026-12-24T18:00:00+01:00')
    const answer = await ask('which?', { choices: ['a', 'b'] })
    await notify('it is done')
    const child = await workflow({ scriptPath: './x.js' }, { n: 1 })
    const failed = await workflow('other').catch((error) => error.message)
    return { done, answer, child, failed }`;
  const { calls, last, events } = await play(setupOf(body), ({ kind, prompt }) =>
    prompt === 'other'
      ? { type: 'failed', reason: 'no such workflow' }
      : { type: 'value', value: kind === 'ask' ? 'b' : { of: kind } },
  );
  assert.deepEqual(
    calls.map(({ kind, prompt, options }) => [kind, prompt, options]),
    [
      ['sleep', '', { seconds: 9 }],
      ['sleep', '', { seconds: 1.5 }],
      ['sleep', '', { seconds: 2 }],
      ['until', '', { at: '2026-12-24T17:00:00.000Z' }],
      ['ask', 'which?', { choices: ['a', 'b'] }],
      ['notify', 'it is done', {}],
      ['workflow', './x.js', { script_path: './x.js', args: { n: 1 } }],
      ['workflow', 'other', {}],
    ],
  );
  assert.deepEqual(
    events.filter(({ type }) => type === 'cancel'),
    [{ type: 'cancel', number: 1, after: 0 }],
  );
  assert.ok(last.type === 'done');
  assert.deepEqual(JSON.parse(last.result), {
    done: ['late'],
    answer: 'b',
    child: { of: 'workflow' },
    failed: 'workflow other: no such workflow',
  });
  const nested = await resultOf(
    setupOf("return workflow('x').catch((error) => error.message)", { nested: true }),
  );
  assert.equal(nested, 'workflow(): a workflow within a workflow starts no other');
});

it('log and console.log are lines', async () => {
  const { events } = await play(
    setupOf(
      "log('a', 1, { b: [2] }, null, undefined, new Error('e')); console.log('c'); console.error('x'.repeat(20000))",
    ),
  );
  const lines = events.flatMap((event) => (event.type === 'log' ? [event.text] : []));
  assert.deepEqual(lines.slice(0, 2), ['a 1 {"b":[2]} null undefined Error: e', 'c']);
  assert.equal(lines[2]?.length, 10_000);
});

it('an error has the line and the stack of the author, also in the first line', async () => {
  const body = `function inner() {\n  null.x\n}\nawait agent('a')\nawait pipeline([1], async (n) => n)\ninner()`;
  const { last } = await play(setupOf(body));
  assert.ok(last.type === 'failed');
  assert.match(last.failure.message, /^TypeError: /);
  assert.deepEqual([last.failure.kind, last.failure.line], ['threw', 3]);
  assert.deepEqual(
    last.failure.stack.map((frame) => frame.replace(/:\d+\)$/, ')')),
    ['inner (workflow.js:3)', '<anonymous> (workflow.js:7)'],
  );
  const statement = "throw new Error('here')";
  const columns = [`${META.trimEnd()};${statement}`, `${META}${statement}`].map(async (source) => {
    const { state } = await firstStep({ ...setupOf(''), source });
    const [, line, column] =
      /:(\d+):(\d+)\)$/.exec(state.type === 'failed' ? (state.failure.stack[0] ?? '') : '') ?? [];
    return [Number(line), Number(column)];
  });
  const [first, second] = await Promise.all(columns);
  assert.deepEqual([first?.[0], second?.[0]], [1, 2]);
  assert.equal((first?.[1] ?? 0) - META.length, second?.[1]);
});

const ends: readonly (readonly [name: string, body: string, state: object])[] = [
  ['nothing is null', '', { type: 'done', result: 'null' }],
  [
    'a Map',
    'return { a: new Map() }',
    { kind: 'not_json', message: 'TypeError: the result is not JSON: "a" is a Map' },
  ],
  [
    'a promise',
    'return [Promise.resolve(1)]',
    { kind: 'not_json', message: 'TypeError: the result is not JSON: "0" is a Promise (await it)' },
  ],
  [
    'a function',
    'return () => 1',
    { kind: 'not_json', message: 'TypeError: the result is not JSON: it is a function' },
  ],
  ['a circle', 'const a = {}; a.a = a; return a', { kind: 'not_json' }],
  ['a promise without end', 'await new Promise(() => {})', { type: 'stuck' }],
  [
    'a thrown value that throws',
    'throw { get message() { throw 1 }, toString() { throw 2 } }',
    { kind: 'threw', message: 'a value that cannot be shown' },
  ],
];
for (const [name, body, wanted] of ends)
  it(`the end of a script: ${name}`, async () => {
    const { state } = await firstStep(setupOf(body));
    const got: object = state.type === 'failed' ? state.failure : state;
    assert.deepEqual(
      Object.fromEntries(Object.keys(wanted).map((key) => [key, got[key as keyof typeof got]])),
      wanted,
    );
  });

it('an error has the line of what it names, and says that args were not given', async () => {
  const none = /args is undefined, because none were given$/;
  for (const [body, line, message, args] of [
    ['\nlet x = 1\nconst n = args.files;', 4, none],
    ['\nlog(1)\nconst f = () => {\n  return args.files.length }\nf()', 5, none],
    ['\nlog(1)\n\nconst { a } = args', 5, none],
    ['\nfor (const f of args.files) log(f)', 3, /'files' of null$/, null],
    ['\n\nconst n = missing.x', 4, /ReferenceError: missing is not defined$/],
    ["log('x')\nconst o = { x: null }\nreturn o.x.x", 4, /'x' of null$/],
    ["log('x')\nconst o = null\nreturn o['x']", 4, /'x' of null$/],
    ["log('x')\n\nfor (const one of null) log(one)", 4, /'Symbol.iterator' of null$/],
    ["log('x')\n\nconst [a] = null", 4, /'Symbol.iterator' of null$/],
  ] as const) {
    const { state } = await firstStep(setupOf(body, args === undefined ? {} : { args }));
    assert.equal(state.type, 'failed');
    assert.match(state.failure.message, message);
    assert.equal(state.failure.line, line, body);
  }
});

it('a replay asks for exactly the recorded calls, and the first difference names line, call and both texts', async () => {
  const body = (second: string, third = "await agent('c')") =>
    `await agent('a')\nawait agent(${second})\n${third}`;
  const { calls, entries } = await play(setupOf(body("'b'")));
  const replayed = (source: string, recorded = calls, fed = entries) =>
    withRun(setupOf(source), (run) => run.feed(fed, recorded));
  assert.equal((await replayed(body("'b'"))).state.type, 'done');
  const failures = [
    [
      await replayed(body("'other'")),
      3,
      /call 2 is recorded as agent "b" .*, and the script now asks for agent "other"/,
    ],
    [
      await replayed(body("'b', { model: 'm' }")),
      3,
      /call 2 is recorded as agent "b" \(\w+:1\), and .* agent "b" \(\w+:1\)/,
    ],
    [await replayed(body("'b'", '')), null, /call 3 is recorded as agent "c" .*no longer makes it/],
    [
      await replayed(
        body("'b'"),
        calls,
        [...entries, entryOf(4, 9, { type: 'value', value: 1 })]
          .slice(0, 2)
          .concat(entryOf(1, 9, { type: 'value', value: 1 })),
      ),
      null,
      /call 1, which has had its result/,
    ],
    [
      await replayed(body("'b'"), [], [entryOf(7, 9, { type: 'value', value: 1 })]),
      null,
      /call 7, which the script has not made/,
    ],
  ] as const;
  for (const [{ state }, line, message] of failures) {
    assert.ok(state.type === 'failed', String(message));
    assert.deepEqual([state.failure.kind, state.failure.line], ['diverged', line]);
    assert.match(state.failure.message, message);
  }
});

it('calls are answered in turn, and after the end nothing changes', async () => {
  const run = await openScript(setupOf("return [await agent('a'), await agent('b')]"));
  const value = { type: 'value', value: 1 } as const;
  const [first, second, third] = await Promise.all([
    run.feed([]),
    run.feed([entryOf(1, 0, value)]),
    run.feed([entryOf(2, 1, value)]),
  ]);
  assert.deepEqual(
    [first.state, second.state, third.state],
    [
      { type: 'waiting', pending: [1] },
      { type: 'waiting', pending: [2] },
      { type: 'done', result: '[1,1]' },
    ],
  );
  assert.deepEqual(await run.feed([entryOf(2, 2, value)]), { events: [], state: third.state });
  await run.dispose();
  await run.dispose();
});

it('a first line that names a program is a comment', async () => {
  assert.equal(await resultOf({ ...setupOf(''), source: `#!/usr/bin/env node\n${META}return 1` }), 1);
});
