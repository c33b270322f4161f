// Proves what a model gets back for calls that cannot be run: unknown tools, malformed arguments, denied calls, tools that throw.
import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import { z } from 'zod';
import type { Tool } from '../../src/records/tool.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { createBuiltInTools } from '../../src/tools/tool-registry.ts';
import { closeOpened } from '../close-opened.ts';
import { setStage } from './stage.ts';

afterEach(closeOpened);

it('each failing call gets one result that says what is wrong and what to do', async () => {
  const thrower = defineTool({
    name: 'thrower',
    description: 'Throws.',
    input: z.strictObject({}),
    side_by_side: true,
    idempotent: true,
    run: async () => Promise.reject(new Error('out of luck')),
  });
  const tools = [...createBuiltInTools(), thrower as Tool];
  const on = await setStage(
    (scene) =>
      scene.step === 0
        ? [
            ['raed', { path: 'x' }],
            ['read', '{"path": '],
            ['read', { path: ['a', 'b'] }],
            ['read', { path: '../../etc/passwd' }],
            ['thrower', {}],
            ['think', { thought: 'ok' }],
          ]
        : 'done',
    { tools },
  );
  const { root, reply } = await on.perform();
  assert.equal(reply, 'done');
  const results = await on.results(root);
  assert.deepEqual(
    results.map((result) => result.status),
    ['error', 'error', 'error', 'error', 'error', 'ok'],
  );
  const expected = [
    /no tool "raed".*Did you mean read\?/,
    /not valid JSON/,
    /field "path"/,
    /outside|not inside/i,
    /out of luck/,
    /./,
  ];
  for (const [index, pattern] of expected.entries()) assert.match(results[index]?.output ?? '', pattern);
});
