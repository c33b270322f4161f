/**
 * Proves that a tool made by `defineTool` keeps the contract: plain schemas, errors that name fields, no exceptions, bounded results, and an end after an
 * abort.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import type { Tool } from '../../src/records/tool.ts';
import { ABANDON_MS, defineTool, RESULT_CHARACTERS } from '../../src/tools/define-tool.ts';
import { createBuiltInTools } from '../../src/tools/tool-registry.ts';
import { call, makeWorkspace } from './tool-fixture.ts';

test('the built-in tools: names, order, flags, and schemas that every provider takes', () => {
  const tools = createBuiltInTools();
  assert.deepEqual(
    tools.map((tool) => tool.spec.name),
    ['bash', 'read', 'write', 'patch', 'search', 'think', 'read_image', 'skill', 'web_fetch', 'web_search'],
  );
  for (const { spec, side_by_side, idempotent } of tools) {
    const reads = ['read', 'search', 'think', 'read_image', 'skill', 'web_fetch', 'web_search'].includes(
      spec.name,
    );
    assert.deepEqual([side_by_side, idempotent], [reads, reads], spec.name);
    assert.deepEqual(Object.keys(spec.input).sort(), ['properties', 'required', 'type']);
    assert.equal(spec.input.type, 'object');
  }
});

const fromSchema = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 1 } },
  required: ['city'],
} as const;

test('a zod schema and a JSON Schema validate alike', () => {
  const shape = z.object({ city: z.string(), days: z.int().min(1).optional() });
  const definition = { name: 'weather', description: 'd', run: () => 'sun' };
  for (const tool of [
    defineTool({ ...definition, input: shape }),
    defineTool({ ...definition, input: fromSchema }),
  ] as Tool[]) {
    assert.equal(tool.spec.input.$schema, undefined);
    assert.equal(tool.spec.input.additionalProperties, false);
    assert.deepEqual(tool.parse({ city: 'Rome' }), { ok: true, input: { city: 'Rome' } });
    assert.deepEqual(tool.parse({ city: 1, dayz: 2 }), {
      ok: false,
      error: 'field "city": expected string, received number\nfield "dayz": not known',
    });
    const days = tool.parse({ city: 'Rome', days: 0 });
    assert.match(days.ok ? '' : days.error, /^field "days": too small/);
    assert.equal(tool.subject({ city: 'Rome' }), '{"city":"Rome"}');
    assert.deepEqual(
      tool.permission,
      { name: tool.spec.name, default: 'ask', allowed: [], subject: 'text', bound_by: [] },
      'what it does not declare',
    );
  }
});

test('nested fields are named with their path', () => {
  const tool = defineTool({
    name: 'x',
    description: 'd',
    input: z.object({ items: z.array(z.object({ id: z.string() })) }),
    run: () => 'ok',
  });
  const parsed = tool.parse({ items: [{ id: 'a' }, { id: 2 }, {}] });
  assert.equal(
    parsed.ok ? '' : parsed.error,
    'field "items.1.id": expected string, received number\nfield "items.2.id": missing (expected string)',
  );
});

test('invalid definitions are refused at once', () => {
  const definition = { description: 'd', run: () => 'ok' };
  assert.throws(
    () => defineTool({ ...definition, name: 'no spaces', input: fromSchema }),
    /tool "no spaces": a name has/,
  );
  assert.throws(
    () => defineTool({ ...definition, name: 'x', input: z.string() }),
    /must be an object schema/,
  );
  assert.throws(() => defineTool({ ...definition, name: 'x', input: z.object({ since: z.date() }) }), {
    ...{ name: 'CoppiceError', code: 'E_INVALID_ARGUMENT' },
    message: /^tool "x": its input cannot be a JSON Schema: Date cannot be represented/,
  });
  assert.throws(
    () =>
      defineTool({
        ...definition,
        name: 'x',
        input: { type: 'object', properties: { a: { $ref: '#/gone' } } },
      }),
    /cannot be used/,
  );
});

const simple = (run: Parameters<typeof defineTool<object>>[0]['run']) =>
  defineTool({ name: 'x', description: 'd', input: z.object({}), run }) as Tool;

test('an exception in run, synchronous or not, is an error result', async () => {
  const context = makeWorkspace();
  const at_once = simple(() => {
    throw new Error('broken at once');
  });
  const later = simple(() => Promise.reject(new Error('broken later')));
  assert.deepEqual(await call(at_once, {}, context), { status: 'error', output: 'broken at once' });
  assert.deepEqual(await call(later, {}, context), { status: 'error', output: 'broken later' });
});

test('results are bounded, without NUL, and well-formed', async () => {
  const long = await call(
    simple(() => `a\0${'😀'.repeat(RESULT_CHARACTERS)}z`),
    {},
    makeWorkspace(),
  );
  assert.ok(long.output.length < RESULT_CHARACTERS + 100);
  assert.ok(long.output.startsWith('a\ufffd') && long.output.endsWith('z') && long.output.isWellFormed());
  assert.match(long.output, /characters left out/);
});

test('a tool that ignores its signal is abandoned, one that obeys is awaited', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const deaf = makeWorkspace();
  const running = call(
    simple(() => new Promise<string>(() => {})),
    {},
    deaf,
  );
  deaf.abort();
  t.mock.timers.tick(ABANDON_MS);
  assert.equal((await running).status, 'cancelled');
  const obeying = makeWorkspace();
  const stopped = call(
    simple(
      (_, { signal }) =>
        new Promise<string>((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(new Error('stopped'))),
        ),
    ),
    {},
    obeying,
  );
  obeying.abort();
  assert.deepEqual(await stopped, { status: 'cancelled', output: 'stopped' });
});

test('a definition that no compiler has checked is refused with the field that is wrong', () => {
  const whole = { name: 'weather', description: 'd', input: fromSchema, run: () => 'sun' };
  for (const [wrong, message] of [
    [undefined, /expected object, received undefined/],
    [
      { name: 'weather', description: 'd', parameters: {}, execute: () => '' },
      /field "input": expected a schema/,
    ],
    [{ ...whole, name: 7 }, /field "name": expected string/],
    [{ ...whole, description: undefined }, /field "description": missing/],
    [{ ...whole, input: 'text' }, /field "input": expected a schema/],
    [{ ...whole, run: 'sun' }, /field "run": expected a function/],
    [{ ...whole, execute: () => '' }, /field "execute": not known/],
    [{ ...whole, permission: 'deny' }, /field "permission": expected object/],
    [{ ...whole, permission: { default: 'never' } }, /field "permission.default"/],
    [{ ...whole, permission: { defaults: 'deny' } }, /field "permission.defaults": not known/],
  ] as const)
    assert.throws(
      () => defineTool(wrong as never),
      (error: Error & { code?: string }) =>
        error.code === 'E_INVALID_ARGUMENT' && message.test(error.message),
      String(message),
    );
});

test('what an untyped program returns is a text: a value as JSON, nothing as an empty one', async () => {
  for (const [returned, output] of [
    [undefined, ''],
    [null, 'null'],
    [[1, { a: 2 }], '[1,{"a":2}]'],
    [{ output: 'x' }, '{"output":"x"}'],
    [{ status: 'fine', output: 'x' }, '{"status":"fine","output":"x"}'],
  ] as const) {
    const result = await call(
      simple(() => returned as never),
      {},
      makeWorkspace(),
    );
    assert.deepEqual(result, { status: 'ok', output });
  }
});
