// Proves that the tools of fanout match docs/vocabularies.md: their schemas, who sees which of them, and the outcome of a submission.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { childConfig } from '../../../src/kernel/toolsets/acts/child-config.ts';
import { ALL_TOOLSETS } from '../../../src/kernel/toolsets/all-toolsets.ts';
import { fanoutToolset } from '../../../src/kernel/toolsets/fanout.ts';
import type { ToolsetTool } from '../../../src/kernel/toolsets/toolset.ts';
import { DEFAULT_TERMS } from '../../../src/kernel/toolsets/toolset-terms.ts';
import type { AgentConfig } from '../../../src/records/agent/agent.ts';
import type { TaskTerms } from '../../../src/records/agent/task-terms.ts';
import { createRecallTool } from '../../../src/runtime/performing/recall-tool.ts';
import { ToolCatalog } from '../../../src/runtime/tool-catalog.ts';
import { termsOf } from '../../store/ledger-fixture.ts';
import { profileOf } from './profile-fixture.ts';

const NONE = { allow: [], ask: [], deny: [] };
const PARENT: AgentConfig = {
  model: 'test/m',
  thinking: 'off',
  system: 'system',
  toolsets: ['fanout'],
  tools: [],
  cwd: '/',
  permissions: { cli: NONE, config: NONE },
};
const SPAWN = termsOf();

function tool(name: string): ToolsetTool {
  const found = fanoutToolset.tools.find((one) => one.spec.name === name);
  assert.ok(found);
  return found;
}

/** The schema as specified, without the bounds that this project adds. */
function bare(schema: unknown): Record<string, unknown> {
  const ours = ['minLength', 'maxLength', 'maxItems', 'additionalProperties'];
  return Object.fromEntries(Object.entries(schema as object).filter(([key]) => !ours.includes(key)));
}

function seen(config: AgentConfig): string[] {
  const catalog = new ToolCatalog({
    tools: [],
    toolsets: ALL_TOOLSETS,
    terms: DEFAULT_TERMS,
    recall: createRecallTool({ history: async () => [] }),
  });
  return catalog
    .setupFor(config)
    .specs(false, false)
    .map((spec) => spec.name);
}

describe('schemas', () => {
  it('spawn_agents takes tasks as documented; every other field is optional', () => {
    const { description, input } = tool('spawn_agents').spec;
    assert.equal(
      description,
      'Spawn sub-agents to execute tasks in parallel. Each sub-agent runs independently and returns a result. Use for: multiple perspectives on code review, exploring unfamiliar parts of a codebase, parallel research or analysis tasks, or divide-and-conquer problem solving.',
    );
    const { tasks, ...more } = input.properties as Record<string, { items: Record<string, unknown> }>;
    assert.deepEqual([input.type, input.required, more], ['object', ['tasks'], {}]);
    const { items, ...list } = bare(tasks);
    assert.deepEqual(list, {
      type: 'array',
      minItems: 1,
      description: 'List of tasks to execute in parallel',
    });
    const { properties, ...item } = bare(items);
    assert.deepEqual(item, { type: 'object', required: ['task'] });
    const { task, cwd, ...optional } = properties as Record<string, unknown>;
    assert.deepEqual(bare(task), { type: 'string', description: 'Task description for the sub-agent' });
    assert.deepEqual(bare(cwd), {
      type: 'string',
      description: "Working directory (defaults to parent's cwd)",
    });
    assert.deepEqual(Object.keys(optional).toSorted(), [
      'budget',
      'label',
      'model',
      'output_schema',
      'profile',
      'read_first',
      'timeout_seconds',
      'worktree',
    ]);
  });

  it('submit_result and submit_error are as documented', () => {
    for (const [name, field, description, about] of [
      [
        'submit_result',
        'result',
        'Submit your final result to the parent conversation. Call this when you have completed your assigned task. After calling this, your conversation ends.',
        'Your final result, summary, or output',
      ],
      [
        'submit_error',
        'error',
        'Report that you cannot complete the assigned task. Call this if you encounter an unrecoverable error or determine the task is impossible. After calling this, your conversation ends.',
        'Description of why the task could not be completed',
      ],
    ] as const) {
      const { spec } = tool(name);
      assert.equal(spec.description, description);
      assert.deepEqual(bare(spec.input), {
        type: 'object',
        required: [field],
        properties: { [field]: { type: 'string', description: about } },
      });
    }
  });

  it('no schema has null, which not every provider accepts', () => {
    const schemas = ALL_TOOLSETS.flatMap((toolset) => toolset.tools.map((one) => one.spec.input));
    assert.equal(JSON.stringify(schemas).includes('"null"'), false);
  });
});

describe('who sees which tools', () => {
  const child = (over: Partial<TaskTerms> = {}, parent: Partial<AgentConfig> = {}, profile = {}) =>
    childConfig(
      { ...PARENT, ...parent },
      {
        profile: Object.keys(profile).length === 0 ? null : profileOf(profile),
        task: { ...SPAWN, ...over },
      },
    );

  it('parents spawn, children submit, and no agent does both', () => {
    assert.deepEqual(seen(PARENT), ['spawn_agents']);
    assert.deepEqual(seen(child()), ['submit_error', 'submit_result']);
  });

  it('a child can create and message no agents, whatever the parent or the profile has', () => {
    const creating = ALL_TOOLSETS.filter(({ name }) => name !== 'tasks');
    const all = creating.map((toolset) => toolset.name).filter((name) => name !== 'delegate');
    assert.deepEqual(seen(child({}, { toolsets: all })), ['submit_error', 'submit_result']);
    for (const toolsets of [['process'], ['slash'], ['sessions'], ['fanout'], []])
      assert.deepEqual(seen(child({}, {}, { toolsets })), ['submit_error', 'submit_result'], `${toolsets}`);
  });

  it('a child shares the task list if its parent or its profile does', () => {
    const submits = ['submit_error', 'submit_result'];
    const shares = ['task_add', 'task_claim', 'task_done', 'task_list', 'task_release'];
    assert.deepEqual(seen(child({}, { toolsets: ['fanout', 'tasks'] })), [...submits, ...shares]);
    assert.deepEqual(seen(child({}, {}, { toolsets: ['tasks'] })), [...submits, ...shares]);
  });

  it('a fork of a parent sees the same tools', () => {
    const both = { ...PARENT, toolsets: ['fanout', 'process'] };
    const fork = childConfig(both, { profile: null });
    assert.equal(fork, both);
    assert.deepEqual(seen(fork), ['fork', 'kill', 'send', 'spawn_agents', 'wait']);
  });

  it('background and delegated agents submit only if there is a schema', () => {
    for (const kind of ['session', 'delegate'] as const) {
      assert.deepEqual(seen(child({ kind })), []);
      assert.deepEqual(seen(child({ kind, output_schema: {} })), ['submit_error', 'submit_result']);
    }
  });

  it('an agent program sees none of them: its last text is its result', () => {
    const config = childConfig(PARENT, { profile: null, model: 'acp:other', task: SPAWN });
    assert.deepEqual(seen(config), []);
  });
});

describe('the result of a submission', () => {
  const config = (output_schema: TaskTerms['output_schema']) =>
    childConfig(PARENT, { profile: null, task: { ...SPAWN, output_schema } });
  const submit = (input: unknown, schema: TaskTerms['output_schema'] = null) =>
    tool('submit_result').submission?.(input, config(schema));
  const NUMBERS = { type: 'object', required: ['n'], properties: { n: { type: 'number' } } };

  it('without a schema, only text is a result', () => {
    assert.deepEqual(submit({ result: 'two issues' }), { type: 'success', result: 'two issues' });
    for (const input of [{}, { result: '' }, { result: ' \n' }, { result: 7 }, { result: {} }, 'x', null, []])
      assert.equal(submit(input), null, JSON.stringify(input));
    assert.equal(submit({ result: 'x', more: 1 }), null, 'a field that nobody reads');
  });

  it('with a schema, the result is matching JSON, also in a fence', () => {
    for (const result of ['{"n":1}', ' {"n": 1} ', '```json\n{"n": 1}\n```\n'])
      assert.deepEqual(JSON.parse((submit({ result }, NUMBERS) as { result: string }).result), { n: 1 });
    for (const result of ['one', '{"n":"1"}', '{}', { n: '1' }, 7, [1]])
      assert.equal(submit({ result }, NUMBERS), null, JSON.stringify(result));
  });

  it('replaces characters that no database can store', () => {
    assert.deepEqual(submit({ result: 'a\0b\ud800' }), { type: 'success', result: 'a\u2400b\uFFFD' });
  });

  it('an error is a failure of the kind sub_agent_error', () => {
    const { submission } = tool('submit_error');
    assert.deepEqual(submission?.({ error: 'impossible' }, config(null)), {
      type: 'failure',
      error: 'impossible',
      error_kind: 'sub_agent_error',
    });
    for (const input of [{}, { error: '' }, { error: 1 }, null])
      assert.equal(submission?.(input, config(null)), null);
  });
});
