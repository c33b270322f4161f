// Proves that no script gets out of its interpreter or holds up the thread that opened it: each attack ends in a clear error, or finds nothing, and the opening thread
// never works for more than 50 ms at a stretch (on a slow machine: for as long as that machine takes for the work of 50 ms).
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openScript } from '../../src/models/workflow/script-run.ts';
import type { ScriptState } from '../../src/models/workflow/script-step.ts';
import { setStage } from '../runtime/stage.ts';
import { entryOf, META, STARTED_AT, setupOf, withRun } from './played-script.ts';
import { termsOf, workflowHost } from './staged-workflow.ts';

const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

/** CPU time of a fixed piece of work of the kind that this thread has with a script, least of several. */
function pieceMs(): number {
  const text = JSON.stringify(
    Array.from({ length: 30_000 }, (_, index) => ({ index, text: 'x'.repeat(50) })),
  );
  const times = Array.from({ length: 8 }, () => {
    const before = cpuMs();
    structuredClone(JSON.parse(text));
    return cpuMs() - before;
  });
  return Math.min(...times);
}

/** What the piece takes on the machine for which the bound was set. */
const PIECE_MS = 12;
/** Milliseconds of CPU time. */
const LONGEST_MS = 50 * Math.max(1, pieceMs() / PIECE_MS);

/** The longest stretch of work of this thread while `use` runs, in milliseconds of CPU time: what other processes of the machine do is no matter. */
async function longestStretch(use: () => Promise<void>): Promise<number> {
  let longest = 0;
  let before = cpuMs();
  const beat = () => {
    const now = cpuMs();
    longest = Math.max(longest, now - before);
    before = now;
  };
  const timer = setInterval(beat, 1);
  await use();
  beat();
  clearInterval(timer);
  return longest;
}

/** How the attack ends; `found`: what it returned. */
async function attack(
  body: string,
): Promise<ScriptState | { readonly type: 'refused'; readonly message: string }> {
  try {
    return await withRun(setupOf(body, { limits: { held_ms: 3_000 } }), async (run) => {
      const { state } = await run.feed([]);
      if (state.type !== 'waiting') return state;
      return (
        await run.feed([
          entryOf(1, 0, { type: 'value', value: JSON.parse('{"__proto__": {"polluted": 1}, "a": 1}') }),
        ])
      ).state;
    });
  } catch (error) {
    return { type: 'refused', message: String(error) };
  }
}

const STEPS = /more than 50,000,000 steps/;
const MEMORY = /more than 256 MB of memory|too long|too large|Invalid array|stack/i;
const attacks: readonly (readonly [name: string, body: string, end: RegExp])[] = [
  ['an endless loop', 'for (;;);', STEPS],
  [
    'an endless loop that catches and finally goes on',
    'for (;;) try { for (;;); } catch {} finally { continue }',
    STEPS,
  ],
  ['an endless loop after a result', "await agent('a'); for (;;);", STEPS],
  ['endless microtasks', 'for (;;) await null', STEPS],
  ['endless promises', 'const next = () => Promise.resolve().then(next); await next()', STEPS],
  ['a thenable without end', 'const a = { then(done) { done(a) } }; await a', STEPS],
  [
    'an endless async generator',
    'async function* all() { for (;;) yield 1 }; for await (const one of all());',
    STEPS,
  ],
  [
    'endless queued microtasks',
    'const next = () => queueMicrotask(next); next(); await new Promise(() => {})',
    STEPS,
  ],
  ['recursion', 'const f = () => f() + 1; f()', /Maximum call stack/],
  ['recursion of a getter', 'const a = { get b() { return this.b } }; a.b', /Maximum call stack/],
  ['recursion of a proxy', 'const p = new Proxy({}, { get: (t, k, r) => r[k] }); p.x', /Maximum call stack/],
  ['a costly regular expression', "/(a+)+$/.test('a'.repeat(50) + 'b')", STEPS],
  ['a huge string', "'a'.repeat(2 ** 29)", MEMORY],
  ['a string that doubles', "let s = 'ab'; for (;;) s += s", MEMORY],
  ['a huge array', 'new Array(1e9).fill(0)', MEMORY],
  ['an array that grows', 'const a = []; for (;;) a.push({ a })', MEMORY],
  ['a huge BigInt', '2n ** (2n ** 40n)', MEMORY],
  [
    'a built-in that takes minutes',
    'const a = []; a.length = 4e9; a.indexOf(1)',
    /holds its thread for more than 3 s/,
  ],
  [
    'products of large BigInts',
    'const a = 1n << 500000n; for (;;) a * a',
    /holds its thread for more than 3 s/,
  ],
  ['deeply nested JSON', "JSON.parse('['.repeat(1e6))", /Maximum call stack/],
  [
    'a deeply nested result',
    'let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a',
    /Maximum call stack|holds its thread/,
  ],
  ['a huge result', "return 'x'.repeat(4e7)", /the result has \d+ characters, and may have 2000000/],
  [
    'a huge prompt',
    "await agent('x'.repeat(2e6))",
    /agent\(\): the call has \d+ characters, and may have 1000000/,
  ],
  [
    'options of millions of values',
    "await agent('a', { schema: { x: Array.from({ length: 3e6 }, () => []) } })",
    /schema has more than 50000 values/,
  ],
  [
    'options too deep to be passed on',
    "let s = {}; for (let i = 0; i < 1000; i++) s = { s }; await agent('a', { schema: s })",
    /nested deeper than 128 levels/,
  ],
  ['lines without end', "for (;;) log('x')", /more than 20000 things/],
  ['huge lines', "for (let i = 0; i < 40; i++) log('x'.repeat(1e6))", /more than 32000000 characters/],
  ['timers without end', 'for (;;) setTimeout(() => {}, 1)', /more than 20000 things/],
  ['a source of 10 MB', `//${'x'.repeat(10_000_000)}`, /at most 1,000,000/],
  ['a source of 1 MB, nested', `return ${'('.repeat(900_000)}`, /stack space/],
  ['a source of 1 MB', `const a = [${'1,'.repeat(490_000)}]; return a.length`, /490000/],
  ['eval', "eval('1')", /has no eval/],
  ['indirect eval', "(0, eval)('1')", /has no eval/],
  ['the constructor of functions', "(() => {}).constructor('return this')()", /functions from text/],
  ['Function', "new Function('return 1')()", /functions from text/],
  [
    'constructors of other functions',
    'const said = []; for (const f of [async () => {}, function* () {}, async function* () {}]) for (const make of [() => f.constructor("1"), () => new f.constructor("1"), () => Reflect.construct(f.constructor, ["1"]), () => Object.getPrototypeOf(f.constructor)("1")]) try { if (typeof make() === "function") said.push("made") } catch (e) { said.push(e.constructor.name) } return said',
    /^(?!.*made).*TypeError/,
  ],
  ['constructors of our globals', "agent.constructor.constructor('return this')()", /functions from text/],
  ['import()', "await import('node:fs')", /no import/],
  [
    'host objects',
    "return ['process', 'require', 'module', 'global', 'Buffer', 'fetch', 'WebAssembly', 'std', 'os', 'Worker', 'Atomics', 'SharedArrayBuffer'].filter((name) => name in globalThis)",
    /^\{"type":"done","result":"\[\]"\}$/,
  ],
  [
    'a prototype in a result',
    "const r = await agent('a'); return [({}).polluted ?? null, Object.getPrototypeOf(r) === Object.prototype]",
    /\[null,true\]/,
  ],
  [
    'a setter of all arrays',
    "const seen = []; for (let i = 0; i < 9; i++) Object.defineProperty(Array.prototype, i, { set(v) { seen.push }, configurable: true }); Object.defineProperty(Object.prototype, '1', { set(v) { globalThis.leak = this } }); log('x'); agent('y'); return globalThis.leak === undefined",
    /true|unreadable|failed/,
  ],
  [
    'toJSON of all objects',
    "Object.prototype.toJSON = () => ({ type: 'call', number: 1, kind: 'shell', prompt: 'rm' }); await agent('a')",
    /"result":"null"/,
  ],
  [
    'calls made by hand',
    "Object.prototype.toJSON = function () { return { ...this, number: 7, options: 'x' } }; await agent('a')",
    /"result":"null"/,
  ],
  [
    'a changed JSON',
    "JSON.stringify = () => '{}'; JSON.parse = () => ({}); const r = await agent('a'); return r.a",
    /"result":"1"/,
  ],
  [
    'a changed Promise',
    "Promise.prototype.then = () => {}; globalThis.Promise = null; const r = await agent('a'); return r.a",
    /"type":"(?:done|stuck|failed)"/,
  ],
  ['a changed prepareStackTrace', 'Error.prepareStackTrace = () => { for (;;); }; null.x', /steps|TypeError/],
  ['a result with a getter', 'return { get a() { for (;;); } }', STEPS],
  ['a result that is a proxy', 'return new Proxy({}, { ownKeys() { for (;;); } })', STEPS],
  ['options with a getter', "await agent('a', { get label() { for (;;); } })", STEPS],
  ['a symbol', 'return Symbol("a")', /is a symbol/],
  ['a BigInt', 'return 1n', /BigInt/],
  ['a proxy thrown', 'throw new Proxy({}, { get() { throw 1 } })', /cannot be shown/],
];

it('the bounds of this test hold for work of its own', async () => {
  const busy = await longestStretch(async () => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    for (const until = cpuMs() + 1.6 * LONGEST_MS; cpuMs() < until; );
    await new Promise((resolve) => setTimeout(resolve, 5));
  });
  assert.ok(busy > LONGEST_MS, `${busy} ms`);
});

for (const [name, body, end] of attacks)
  it(`an attack: ${name}`, async (test) => {
    let ended: object = {};
    const longest = await longestStretch(async () => {
      ended = await attack(body);
    });
    test.diagnostic(`${longest.toFixed(0)} ms, ${JSON.stringify(ended).slice(0, 150)}`);
    assert.match(JSON.stringify(ended), end);
    assert.ok(longest <= LONGEST_MS, `this thread worked for ${longest.toFixed(0)} ms at a stretch`);
  });

for (const [name, body, reply] of [
  ['lines', "for (let i = 0; i < 19000; i++) log('x'.repeat(1000)); return 1", '1'],
  [
    'long calls',
    "return (await parallel(Array.from({ length: 25 }, (_, i) => () => agent(i + 'x'.repeat(9e5))))).length",
    '25',
  ],
  ['a long result', "return 'x'.repeat(1.9e6)", 'x'.repeat(1.9e6)],
  [
    'a long stack',
    "const e = new Error('x'); e.stack = '  at a (workflow.js:1:1)\\n'.repeat(2e5); throw e",
    '',
  ],
] as const)
  it(`a whole run is not held up by ${name}`, async () => {
    const stage = await setStage(() => 'did it', {
      workflows: workflowHost(),
      config: { workflow: termsOf("return agent('first')") },
    });
    // What is loaded and compiled once is not the script's.
    await stage.perform();
    await stage.close();
    const run = await setStage(() => 'did it', {
      workflows: workflowHost(),
      config: { workflow: termsOf(body) },
    });
    const longest = await longestStretch(async () => {
      assert.equal((await run.perform()).reply, reply);
    });
    await run.close();
    assert.ok(longest <= LONGEST_MS, `this thread worked for ${longest.toFixed(0)} ms at a stretch`);
  });

it('a replay of 2,000 finished calls, and results of 100 KB, hold nothing up', async (test) => {
  for (const [calls, characters] of [
    [1_000, 100],
    [2_000, 100],
    [300, 100_000],
  ] as const) {
    const body = `return (await pipeline([...Array(${calls}).keys()], (n) => agent('task ' + n))).length`;
    const entries = Array.from({ length: calls }, (_, index) =>
      entryOf(index + 1, index, { type: 'value', value: 'x'.repeat(characters) }),
    );
    let replay_ms = 0;
    const longest = await longestStretch(async () => {
      const run = await openScript(setupOf(body, { limits: { agents: calls } }));
      const start = performance.now();
      const { state } = await run.feed(entries);
      replay_ms = performance.now() - start;
      assert.deepEqual(state, { type: 'done', result: String(calls) });
      await run.dispose();
    });
    test.diagnostic(
      `${calls} calls of ${characters} characters: ${replay_ms.toFixed(0)} ms, ${longest.toFixed(0)} ms at a stretch`,
    );
    assert.ok(longest <= LONGEST_MS, `${longest} ms`);
  }
  const starts: number[] = [];
  for (let round = 0; round < 10; round++) {
    const start = performance.now();
    const run = await openScript({ source: `${META}return 1`, seed: '', started_at: STARTED_AT });
    starts.push(performance.now() - start);
    await run.dispose();
  }
  test.diagnostic(`starts: ${starts.map((one) => one.toFixed(0)).join(' ')} ms`);
});
