// Proves that the scripted model answers by its rules, fills its templates, can be aborted, and reports mistakes in a rule file.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { inspect } from 'node:util';
import { openModel } from '../../src/models/providers.ts';
import { createScriptedModel } from '../../src/models/scripted/scripted-model.ts';
import type { PromptMessage } from '../../src/records/conversation/prompt-message.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { ask } from './protocols.ts';

const forks: PromptMessage[] = [
  { role: 'user', text: 'count to 2' },
  {
    role: 'assistant',
    model: 's',
    parts: [
      { type: 'call', id: '1', name: 'fork', input: '{}' },
      { type: 'call', id: '2', name: 'fork', input: '{}' },
    ],
  },
  {
    role: 'results',
    results: [
      { call_id: '1', name: 'fork', status: 'ok', output: '{"agent_id":"id-1"}' },
      { call_id: '2', name: 'fork', status: 'ok', output: '{"agent_id":"id-2"}' },
    ],
  },
];

it('matches in order, repeats calls, keeps lists as lists', async () => {
  const model = createScriptedModel(
    {
      rules: [
        {
          when: { step: 0 },
          calls: [
            {
              name: 'fork',
              input: { name: 'c{{index}}', prompt: '{{user}}' },
              repeat: '{{user.count to (\\d+)}}',
            },
          ],
        },
        {
          when: { tool: 'fork', result: 'id-2' },
          calls: [{ name: 'wait', input: { timeout: 5, from_agents: '{{results.fork.*.agent_id}}' } }],
        },
      ],
    },
    'test',
  );
  const first = await model.stream(ask({ messages: forks.slice(0, 1) }), () => undefined);
  assert.ok(first.type === 'answer');
  assert.deepEqual(
    first.content.parts.map((part) => part.type === 'call' && JSON.parse(part.input)),
    [
      { name: 'c0', prompt: 'count to 2' },
      { name: 'c1', prompt: 'count to 2' },
    ],
  );
  const second = await model.stream(ask({ messages: forks }), () => undefined);
  assert.ok(second.type === 'answer');
  assert.deepEqual(
    second.content.parts.map((part) => part.type === 'call' && JSON.parse(part.input)),
    [{ timeout: 5, from_agents: ['id-1', 'id-2'] }],
  );
});

it('puts the id of a call into its input', async () => {
  const rule = { calls: [{ name: 'note', input: { text: '{{call.id}}' }, repeat: 2 }] };
  const answer = await createScriptedModel({ rules: [rule] }, 'test').stream(ask(), () => undefined);
  assert.ok(answer.type === 'answer');
  const calls = answer.content.parts.flatMap((part) => (part.type === 'call' ? [part] : []));
  assert.deepEqual(
    calls.map(({ input }) => JSON.parse(input)),
    calls.map(({ id }) => ({ text: id })),
  );
  assert.equal(new Set(calls.map(({ id }) => id)).size, 2);
});

it('loops over rows of a result and streams what it says', async () => {
  const wait: PromptMessage = {
    role: 'results',
    results: [
      {
        call_id: '3',
        name: 'wait',
        status: 'ok',
        output: '{"results":[{"name":"a","message":"x"},{"name":"b"}]}',
      },
    ],
  };
  const model = createScriptedModel(
    {
      rules: [
        {
          say: 'Report:{{#each results.wait.-1.results}} {{.name}}={{.message}};{{/each}} {{result.nothing.here}}end',
          chunk_ms: 1,
        },
      ],
    },
    'test',
  );
  let text = '';
  const outcome = await model.stream(ask({ messages: [{ role: 'user', text: 'x' }, wait] }), (delta) => {
    if (delta.type === 'text') text += delta.text;
  });
  assert.equal(text, 'Report: a=x; b=; end');
  assert.ok(outcome.type === 'answer' && outcome.finish === 'stop');
});

it('says which conversation no rule matches', async () => {
  const model = createScriptedModel({ rules: [{ when: { agent: 'nob*' }, say: 'x' }] }, 'rules.json');
  const outcome = await model.stream(ask(), () => undefined);
  assert.ok(
    outcome.type === 'failure' &&
      /no rule of rules.json matches agent "main" at step 0: "hello"/.test(outcome.failure.error),
  );
});

it('is aborted in a pause', async () => {
  const model = createScriptedModel({ rules: [{ say: 'late', delay_ms: 60_000 }] }, 'test');
  const controller = new AbortController();
  const pending = model.stream(ask({ signal: controller.signal }), () => undefined);
  controller.abort();
  assert.equal((await pending).type, 'aborted');
});

it('a wrong rule file is refused with the place of the fault', async () => {
  const file = join(temporaryFolder(), 'rules.json');
  const options = { providers: {}, env: {} };
  for (const [text, message] of [
    ['{"rules": [{"sya": "x"}]}', /rules\.0: it has a field that is not known/],
    ['{"rules": [{"when": {"user": "("}}]}', /rules\.0\.when\.user: is not a valid regular expression/],
    ['{"rules": []}', /rules/],
    ['{', /is not valid JSON at line 1, column 2$/],
    ['{"rules": [],\n "auths": SECRET}', /is not valid JSON at line 2, column 11$/],
    ['SECRET: x', /is not valid JSON at line 1, column 1$/],
    ['{"SECRET": 1, "rules": [{}]}', /it has a field that is not known$/],
    ['["SECRET"]', /expected object, received array$/],
    ['"SECRET"', /expected object, received string$/],
  ] as const) {
    writeFileSync(file, text);
    await assert.rejects(
      openModel(`scripted:${file}`, options),
      (error: Error & { code?: string }) =>
        // The path may be that of another file.
        error.code === 'E_RULES' && message.test(error.message) && !/SECRET/.test(inspect(error)),
    );
  }
});

it('unknown providers and missing keys name what would be right', async () => {
  const failing = (name: string) =>
    openModel(name, { providers: {}, env: {} }).then(
      () => null,
      (error: { code: string; message: string; hint: string }) => error,
    );
  assert.match((await failing('antropic/claude'))?.hint ?? '', /Did you mean anthropic\?/);
  assert.equal((await failing('antropic/claude'))?.code, 'E_MODEL_UNKNOWN');
  assert.equal((await failing('claude'))?.code, 'E_MODEL_UNKNOWN');
  const missing = await failing('anthropic/claude');
  assert.equal(missing?.code, 'E_NO_KEY');
  assert.match(missing?.message ?? '', /ANTHROPIC_API_KEY/);
});
