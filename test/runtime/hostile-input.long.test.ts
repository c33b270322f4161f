// Proves that no input of models, programs and file systems throws an undocumented error, escapes its folder, or blocks the process: malformed arguments of
// every tool, terminal text, paths and JSON Schemas, generated anew from the printed seed. FUZZ=20 is
// 1,000,000 arguments, 500,000 texts, 200,000 paths and 100,000 schemas.
import assert from 'node:assert/strict';
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { it, type TestContext } from 'node:test';
import { argumentsError } from '../../src/kernel/reading/call-errors.ts';
import { readArguments } from '../../src/kernel/reading/read-arguments.ts';
import { ALL_TOOLSETS } from '../../src/kernel/toolsets/all-toolsets.ts';
import { resultFault, schemaFault } from '../../src/kernel/toolsets/output-schema.ts';
import { DEFAULT_TERMS } from '../../src/kernel/toolsets/toolset-terms.ts';
import { containPath } from '../../src/permissions/path-containment.ts';
import { parseJson } from '../../src/records/text/json-text.ts';
import { clean, cleanLines } from '../../src/render/clean.ts';
import { spellHidden } from '../../src/render/hidden-characters.ts';
import { createBuiltInTools } from '../../src/tools/tool-registry.ts';
import { viewOf } from '../kernel/toolsets/toolset-view.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const TIMES = Number(process.env.FUZZ ?? 1);
const HOLD_MS = 50;
/** Work that takes longer is measured again: a collection of garbage or the compiler may have run meanwhile. */
const DOUBTFUL_MS = 2;

/** A small seeded random number generator (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function seeded(test: TestContext): {
  readonly random: () => number;
  readonly one: <T>(of: readonly T[]) => T;
} {
  const seed = Number(process.env.SEED ?? Date.now() % 1e9);
  test.diagnostic(`SEED=${seed}`);
  const random = randomOf(seed);
  return { random, one: (of) => of[Math.floor(random() * of.length)] as (typeof of)[number] };
}

/** Least CPU time of this thread in up to four runs, in milliseconds: what other processes of the machine do is no matter. */
function heldFor(work: () => void): number {
  let least = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 4 && least > DOUBTFUL_MS; tries += 1) {
    const began = process.threadCpuUsage();
    work();
    const { user, system } = process.threadCpuUsage(began);
    least = Math.min(least, (user + system) / 1_000);
  }
  return least;
}

const PIECES = [
  '',
  'a',
  '0',
  '-1',
  '1e999',
  'null',
  '../',
  '/',
  '~',
  '\\',
  '"',
  "'",
  '`',
  '$(id)',
  '\0',
  '\n',
  '\r',
  '\t',
  '\u2028',
  '\u202e',
  '\ud800',
  '\udfff',
  '\ufeff',
  '\u200b',
  'é',
  'e\u0301',
  '💥',
  '👩‍👩‍👧',
  '\x1b[31m',
  '\x1b]8;;x\x07',
  '\x1b[2J',
  '\x9b1m',
  '\x07',
  '\x7f',
  '%00',
  '__proto__',
  'constructor',
  '{{',
  '*'.repeat(30),
  '(a+)+$',
  '\u0300'.repeat(40),
  'x'.repeat(5_000),
];
const NUMBERS = [0, -0, 1, -1, 0.5, 2 ** 31, 2 ** 53, 1e308, -1e308, Number.NaN, Number.POSITIVE_INFINITY];

it('malformed arguments of every tool', (test) => {
  const { random, one } = seeded(test);
  const text = () => Array.from({ length: Math.floor(random() * 4) }, () => one(PIECES)).join('');
  const fields = new Set<string>(['tasks', '__proto__', 'toString', '']);
  const built_in = createBuiltInTools();
  const toolset_tools = ALL_TOOLSETS.flatMap(({ tools }) => tools);
  for (const { spec } of [...built_in, ...toolset_tools])
    for (const field of Object.keys((spec.input as { properties?: object }).properties ?? {}))
      fields.add(field);
  const names = [...fields];
  const value = (depth: number): unknown => {
    const kind = random();
    if (kind < 0.4 || depth > 3) return text();
    if (kind < 0.55) return one(NUMBERS);
    if (kind < 0.65) return one([null, true, false, undefined]);
    if (kind < 0.8) return Array.from({ length: Math.floor(random() * 4) }, () => value(depth + 1));
    return object(depth + 1);
  };
  const object = (depth: number): unknown =>
    Object.fromEntries(Array.from({ length: Math.floor(random() * 5) }, () => [one(names), value(depth)]));
  const view = viewOf();
  const { self } = view;
  let [refused, worst] = [0, 0];
  for (let count = 0; count < 50_000 * TIMES; count += 1) {
    const input = random() < 0.05 ? value(0) : object(0);
    const is_built_in = random() < 0.5;
    const [own, tool] = [one(built_in), one(toolset_tools)];
    const { spec } = is_built_in ? own : tool;
    const is_own = random() < 0.7;
    const held = heldFor(() => {
      const reading = readArguments({ ...spec, own: is_own }, input);
      assert.ok(reading.changes.length <= 20);
      assert.ok(argumentsError(spec, 'a fault', input).length < 20_000);
      if (is_built_in) {
        const parsed = own.parse(input);
        if (!parsed.ok) {
          refused += 1;
          assert.ok(parsed.error.length > 0 && parsed.error.length < 20_000);
        }
        return;
      }
      const call = { id: 'c1', name: tool.spec.name, input } as Parameters<typeof tool.decode>[1];
      tool.mentions?.(input);
      tool.needs?.(input, call, self, DEFAULT_TERMS);
      tool.submission?.(input, self.config);
      if (typeof tool.creates === 'function') tool.creates(input);
      tool.decode(input, call, view);
    });
    worst = Math.max(worst, held);
    assert.ok(held < HOLD_MS, `${held} ms: ${JSON.stringify(input)}`);
  }
  assert.ok(refused > 0);
  test.diagnostic(`at most ${worst.toFixed(1)} ms`);
});

it('text for the terminal', (test) => {
  const { random, one } = seeded(test);
  const piece = () =>
    random() < 0.6
      ? one(PIECES)
      : String.fromCodePoint(Math.floor(random() * (random() < 0.7 ? 0x300 : 0x10ffff)));
  let worst = 0;
  for (let count = 0; count < 25_000 * TIMES; count += 1) {
    const text = Array.from({ length: Math.floor(random() * 12) }, piece).join('');
    const held = heldFor(() => {
      assert.doesNotMatch(clean(text), /[\p{Cc}\u202a-\u202e\u2066-\u2069\u2028\u2029]/u);
      for (const shown of [cleanLines(text), spellHidden(text)])
        assert.doesNotMatch(shown, /(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
    });
    worst = Math.max(worst, held);
    assert.ok(held < HOLD_MS, `${held} ms: ${JSON.stringify(text)}`);
  }
  test.diagnostic(`at most ${worst.toFixed(1)} ms`);
});

it('paths', (test) => {
  const { random, one } = seeded(test);
  const base = realpathSync(temporaryFolder());
  const root = join(base, 'work');
  mkdirSync(join(root, 'in/deep'), { recursive: true });
  mkdirSync(join(base, 'out'));
  writeFileSync(join(base, 'out/secret'), '');
  writeFileSync(join(root, 'file'), '');
  for (const [name, to] of Object.entries({
    away: '../out',
    far: '/etc',
    here: '.',
    around: 'around',
    up: '..',
    file2: 'file',
    lost: '../out/none',
    inner: 'in/deep',
  }))
    symlinkSync(to, join(root, name));
  const names = [
    '..',
    '.',
    '',
    'in',
    'deep',
    'away',
    'far',
    'here',
    'around',
    'up',
    'file',
    'file2',
    'lost',
    'inner',
    'secret',
    'out',
    'work',
    'passwd',
    ...PIECES,
  ];
  const starts = [
    '',
    '',
    '',
    '/',
    '//',
    './',
    `${root}/`,
    `${base}/`,
    '~/',
    '/proc/self/root/',
    '/proc/self/cwd/',
    'file:///',
  ];
  let [held_inside, refused, worst] = [0, 0, 0];
  for (let count = 0; count < 10_000 * TIMES; count += 1) {
    const path =
      one(starts) + Array.from({ length: 1 + Math.floor(random() * 7) }, () => one(names)).join('/');
    const held = heldFor(() => {
      let found: ReturnType<typeof containPath>;
      try {
        found = containPath(root, path);
      } catch (error) {
        refused += 1;
        assert.ok(error instanceof Error && error.message.length > 0);
        assert.doesNotMatch(error.message, /[\p{Cc}\u202e]/u, JSON.stringify(path));
        return;
      }
      assert.ok(found.absolute === root || found.absolute.startsWith(root + sep), JSON.stringify(path));
      // An existing path is canonical, so no link leads out of the folder.
      if (found.exists) assert.equal(realpathSync.native(found.absolute), found.absolute);
      held_inside += 1;
    });
    worst = Math.max(worst, held);
    assert.ok(held < HOLD_MS, `${held} ms: ${JSON.stringify(path)}`);
  }
  assert.ok(held_inside > 0 && refused > 0);
  test.diagnostic(`${held_inside} inside, ${refused} refused; at most ${worst.toFixed(1)} ms`);
});

it('JSON Schemas, and results that are to match them', (test) => {
  const { random, one } = seeded(test);
  const PATTERNS = [
    '^a+$',
    '(a+)+$',
    '(a|a)*b',
    '(.*)*x',
    '^(([a-z])+.)+[A-Z]([a-z])+$',
    '[',
    '\\',
    '(?<=a)b',
    '\\u{1f4a5}',
    '(?:a?){40}a{40}',
  ];
  const TYPES = ['string', 'number', 'integer', 'object', 'array', 'boolean', 'null', 'any', 7];
  const KEYS = [
    'type',
    'properties',
    'items',
    'required',
    'enum',
    'const',
    'pattern',
    'minLength',
    'maxLength',
    'minimum',
    'multipleOf',
    'allOf',
    'anyOf',
    'oneOf',
    'not',
    'if',
    'then',
    'else',
    '$ref',
    '$defs',
    'additionalProperties',
    'patternProperties',
    'uniqueItems',
    'minItems',
    'maxItems',
    'format',
    'dependentRequired',
    'prefixItems',
    'contains',
    'propertyNames',
    'unevaluatedProperties',
    '__proto__',
    '$dynamicRef',
    'definitions',
  ];
  const schema = (depth: number): unknown => {
    if (depth > 4 || random() < 0.1) return one([true, false, null, 'x', 3, {}]);
    return Object.fromEntries(
      Array.from({ length: Math.floor(random() * 4) }, () => {
        const key = one(KEYS);
        return [key, partOf(key, depth + 1)];
      }),
    );
  };
  const many = (depth: number) => Array.from({ length: Math.floor(random() * 4) }, () => schema(depth));
  const named = (depth: number) =>
    Object.fromEntries(many(depth).map((part) => [one([...PATTERNS, 'a', 'b']), part]));
  const partOf = (key: string, depth: number): unknown => {
    if (random() < 0.1) return schema(depth);
    if (key === 'type') return random() < 0.8 ? one(TYPES) : [one(TYPES), one(TYPES)];
    if (key === 'pattern') return one(PATTERNS);
    if (key === '$ref' || key === '$dynamicRef')
      return one(['#', '#/$defs/a', '#/definitions/b', '#/properties/a', 'http://x/', '#/%', '#nowhere']);
    if (/^(allOf|anyOf|oneOf|prefixItems)$/.test(key)) return many(depth);
    if (/^(properties|patternProperties|\$defs|definitions)$/.test(key)) return named(depth);
    if (key === 'required' || key === 'enum') return [one(PIECES), one(NUMBERS)];
    if (/^(m|uniq)/.test(key)) return one(NUMBERS);
    return schema(depth);
  };
  const RESULTS = [
    '{}',
    '[]',
    '""',
    '0',
    'null',
    '{',
    '{"a":{"b":[1,"2",null]}}',
    `"${'a'.repeat(5_000)}!"`,
    `[${'1,'.repeat(2_000)}1]`,
    `${'['.repeat(100)}${']'.repeat(100)}`,
    `${'['.repeat(5_000)}`,
  ];
  let [usable, worst] = [0, 0];
  for (let count = 0; count < 5_000 * TIMES; count += 1) {
    const made = schema(0);
    const parsed = parseJson(JSON.stringify(typeof made === 'object' && made !== null ? made : {}));
    assert.ok(parsed.ok);
    const given = parsed.value as Record<string, unknown>;
    const result = one(RESULTS);
    const held = heldFor(() => {
      const fault = schemaFault(given);
      if (fault === null) usable += 1;
      const wrong = resultFault(given, result);
      assert.ok(wrong === null || wrong.length < 20_000);
    });
    worst = Math.max(worst, held);
    assert.ok(held < HOLD_MS, `${held} ms: ${JSON.stringify(given)} for ${result.slice(0, 80)}`);
  }
  assert.ok(usable > 0);
  test.diagnostic(`${usable} usable; at most ${worst.toFixed(1)} ms`);
});
