// Proves, for each pair of wire protocols, that a fork with another model inherits a history that this model accepts: every call with its result, and no
// reasoning of the first model.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import * as z from 'zod';
import { defineTool } from '../../src/tools/define-tool.ts';
import { setStage } from '../runtime/stage.ts';
import type { Answer, Exchange } from '../servers/brain.ts';
import { open, PROTOCOLS } from './protocols.ts';

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  input: z.strictObject({ at: z.string() }),
  side_by_side: true,
  idempotent: true,
  run: async ({ at }) => `seen ${at}`,
});

/** Thinks, calls `look`, and then forks the child with the other model. */
function parent({ messages }: Exchange): Answer {
  const results = messages.filter(({ role }) => role === 'results').length;
  const reasoning = 'a private thought';
  if (results === 0) return { reasoning, text: 'I look.', calls: [{ name: 'look', input: { at: 'x' } }] };
  if (results > 1) return { reasoning, text: 'done' };
  const input = { name: 'kid', prompt: 'go on', model: 'other/model' };
  return {
    reasoning,
    calls: [
      { name: 'fork', input },
      { name: 'look', input: { at: 'y' } },
    ],
  };
}

/** Thinks and calls `look` itself once, so that its history contains calls of both models. */
function child({ messages }: Exchange): Answer {
  const own = messages.filter(({ role }) => role === 'results').length;
  return own < 3
    ? { reasoning: 'a thought of its own', calls: [{ name: 'look', input: { at: 'z' } }] }
    : { text: 'done' };
}

/** Other models of the same protocols. */
const OTHERS = {
  anthropic: 'claude-opus-4-5',
  openai: 'gpt-5-mini',
  'openai-compatible': 'another',
  google: 'gemini-2.5-pro',
} as const;

for (const from of PROTOCOLS)
  for (const to of PROTOCOLS)
    it(`from ${from.type} to ${to.type}`, async () => {
      const [first, second] = [await open(from, parent), await open(to, child, { model: OTHERS[to.type] })];
      const on = await setStage(() => 'nobody plays', {
        tools: [look],
        models: { 'first/model': first.model, 'other/model': second.model },
        config: { model: 'first/model', thinking: 'medium' },
      });
      const { agents } = await on.perform();
      await on.close();
      assert.deepEqual(
        agents.map(({ state, config }) => [state.type, config.model]),
        [
          ['idle', 'first/model'],
          ['idle', 'other/model'],
        ],
      );
      const { exchanges } = second.server;
      assert.deepEqual(
        exchanges.map(({ refused }) => refused),
        [null, null],
      );
      const [begun, later] = exchanges as [Exchange, Exchange];
      assert.deepEqual(
        begun.messages.flatMap(({ calls }) => calls.map(({ name }) => name)),
        ['look', 'fork', 'look'],
      );
      const outputs = begun.messages.flatMap(({ results }) => results.map(({ output }) => output));
      assert.equal(outputs[0], 'seen x');
      assert.ok(outputs.length === 3 && outputs.slice(1).every((output) => output.startsWith('Not for you')));
      assert.ok(begun.messages.some(({ text }) => text.includes('I look.')));
      for (const { raw } of [begun, later]) assert.doesNotMatch(raw, /a private thought/);
      assert.match(later.raw, /seen z/);
      await Promise.all([first.server.close(), second.server.close()]);
    });
