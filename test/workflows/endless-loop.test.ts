// Proves that a script that loops without end is ended by its steps, or by its time where steps are slow, and that the error names the line of the loop.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ScriptLimits } from '../../src/models/workflow/script-step.ts';
import { setupOf, withRun } from './played-script.ts';

async function endOf(body: string, limits: Partial<ScriptLimits>) {
  const { state } = await withRun(setupOf(body, { limits }), (run) => run.feed([]));
  assert.ok(state.type === 'failed', JSON.stringify(state));
  return state.failure;
}

it('errors that are caught without end take time, not steps', async () => {
  const body = "log('a');\n\nfor (;;) {\n  try { null.x } catch {}\n}";
  const { kind, message, line } = await endOf(body, { work_ms: 50 });
  assert.deepEqual([kind, line], ['limit', 4]);
  assert.match(message, /works for more than 0.05 s without waiting for a result: an endless loop\?/);
});

const loops: readonly (readonly [what: string, line: number, body: string])[] = [
  ['after other lines', 5, "log('a');\nlet n = 0;\n\nwhile (true) n++;"],
  ['after other loops', 5, "for (const a of [1]) log(a);\n\nlog('b');\ndo ; while (true);"],
  ['that calls', 3, '\nwhile (true) {\n  Math.abs(1);\n}\nfor (;;);'],
  ['within a loop that calls', 3, '\nfor (;;) [1].map((n) => n);\nfor (;;);'],
  ['in a function', 4, 'function f() {\n  const a = 1;\n  for (;;);\n}\nf();\nfor (;;);'],
  ['in a method', 4, 'const o = {\n  run() {\n    for (;;);\n  },\n};\no.run();\nfor (;;);'],
  ['in an arrow function', 3, 'const f = () => {\n  for (;;);\n};\nf();'],
  ['in a callback', 4, '\n[1].forEach(\n  () => { for (;;); },\n);\nfor (;;);'],
  [
    'in a method that has done something',
    5,
    'class A {\n  run() {\n    let a = 0;\n    for (;;) a++;\n  }\n}\nnew A().run();\nfor (;;);',
  ],
];
for (const [what, line, body] of loops)
  it(`a loop ${what}`, async () => {
    const failure = await endOf(body, { steps: 200_000 });
    assert.match(failure.message, /makes more than 200,000 steps/);
    assert.equal(failure.line, line, JSON.stringify(failure.stack));
  });

const jobs: readonly (readonly [what: string, line: number, body: string])[] = [
  ['a loop that awaits', 3, '\nfor (;;) {\n  await null;\n}'],
  [
    'a function that awaits itself',
    3,
    '\nasync function spin() { await null; return spin(); }\nawait spin();',
  ],
  ['promises that make promises', 3, '\nconst next = () => Promise.resolve().then(next);\nawait next();'],
  [
    'promises that nothing awaits',
    4,
    'function tick() {\n\n  Promise.resolve().then(tick);\n}\ntick();\nawait new Promise(() => {});',
  ],
  ['a thenable', 3, '\nconst then = { then(done) { done(then); } };\nawait then;'],
  [
    'loops side by side',
    4,
    "log('a');\n\nconst one = async () => { for (;;) await 0; };\nawait Promise.all([one(), one()]);",
  ],
  ['races', 4, '\nlet done = false;\nwhile (!done) await Promise.race([Promise.resolve(1)]);'],
];
for (const [what, line, body] of jobs)
  it(`microtasks without end: ${what}`, async () => {
    for (let steps = 200_000; steps < 240_000; steps += 9_000) {
      const failure = await endOf(body, { steps });
      assert.match(failure.message, /steps without waiting for a result/);
      assert.equal(failure.line, line, JSON.stringify(failure.stack));
    }
  });

it('where it is broken off within an asynchronous generator, its end is the limit all the same', async () => {
  const body = 'async function* all() { for (;;) yield 1; }\nfor await (const one of all());';
  // Which of its steps is broken off depends on how many there were.
  for (let steps = 200_000; steps < 300_000; steps += 9_000)
    assert.match((await endOf(body, { steps })).message, /steps without waiting for a result/);
});
