// Proves that calls which are wrong in form but clear in meaning are read as meant, before anything judges or runs them, and that the others are answered with a right call.
import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import { readAnswer } from '../../src/kernel/reading/read-answer.ts';
import { argumentsFault } from '../../src/kernel/toolsets/json-schema/arguments-fault.ts';
import { DEFAULT_TERMS } from '../../src/kernel/toolsets/toolset-terms.ts';
import type { AgentConfig } from '../../src/records/agent/agent.ts';
import type { AssistantPart } from '../../src/records/conversation/message.ts';
import type { Tool } from '../../src/records/tool.ts';
import { ToolCatalog } from '../../src/runtime/tool-catalog.ts';
import type { ListedTool } from '../../src/tools/mcp-servers/listed-tool.ts';
import type { McpServer } from '../../src/tools/mcp-servers/mcp-server.ts';
import { serverToolOf } from '../../src/tools/mcp-servers/server-tool.ts';
import { createBuiltInTools } from '../../src/tools/tool-registry.ts';
import { closeOpened } from '../close-opened.ts';
import { profileOf } from '../kernel/toolsets/profile-fixture.ts';
import { setStage } from '../runtime/stage.ts';
import { CONFIG, termsOf } from '../store/ledger-fixture.ts';
import { HABITS, type Habit, type Who } from './habits.ts';

afterEach(closeOpened);

const LISTED = {
  name: 'find',
  description: 'Finds things.',
  reads_only: true,
  names: new Map(),
  input: {
    type: 'object',
    required: ['limit'],
    additionalProperties: false,
    properties: {
      limit: { type: 'integer', minimum: 1 },
      tags: { type: 'array', items: { type: 'string' } },
      only_new: { type: 'boolean' },
    },
  },
} as unknown as ListedTool;
const SERVER = { name: 'shop', listed: [LISTED] } as unknown as McpServer;
const TOOLS = [...createBuiltInTools(), serverToolOf(SERVER, LISTED, argumentsFault, () => null) as Tool];
const profiles = new Map([['explore', profileOf({ name: 'explore' })]]);
const terms = { ...DEFAULT_TERMS, profiles };
const CATALOG = new ToolCatalog({ tools: TOOLS, terms, recall: TOOLS[0] as Tool });

function configOf(who: Who): AgentConfig {
  const toolset = who === 'child' ? 'fanout' : who === 'server' ? 'process' : who;
  const task = who === 'child' ? { task: termsOf() } : {};
  return { ...CONFIG, ...task, tools: TOOLS.map(({ spec }) => spec.name), toolsets: [toolset] };
}
const CONFIGS = new Map(HABITS.map(({ who }) => [who, configOf(who)]));

function partsOf({ wrote }: Habit): AssistantPart[] {
  if (typeof wrote === 'string') return [{ type: 'text', text: wrote }];
  return wrote.map(([name, input], index) => ({
    type: 'call',
    id: `c${index}`,
    name,
    input: typeof input === 'string' ? input : JSON.stringify(input),
  }));
}

const READ = HABITS.filter(({ reads }) => reads !== undefined);

it('there are 150 habits and more, of which at least nine in ten are read', () => {
  assert.ok(HABITS.length >= 150, `${HABITS.length}`);
  assert.ok(READ.length / HABITS.length >= 0.9, `${READ.length} of ${HABITS.length}`);
});

for (const habit of READ)
  it(`read as meant: ${habit.who} ${JSON.stringify(habit.wrote).slice(0, 150)}`, () => {
    const { read } = CATALOG.setupFor(CONFIGS.get(habit.who) as AgentConfig);
    const written = partsOf(habit);
    const calls = readAnswer(written, read, 1).parts.flatMap((part) => (part.type === 'call' ? [part] : []));
    const ran = calls.map((call) => {
      const { name, input } = call.read ?? call;
      return [name, JSON.parse(input)];
    });
    assert.deepEqual(ran, habit.reads);
    for (const [name, input] of ran) assert.ok(read.find(name)?.fits(input), `${name} does not take it`);
  });

for (const who of new Set(HABITS.map((habit) => habit.who))) {
  const answered = HABITS.filter((habit) => habit.who === who && habit.answers !== undefined);
  if (answered.length === 0) continue;
  it(`answered with a right call: ${who}`, async () => {
    const calls = answered.flatMap(({ wrote }) => (typeof wrote === 'string' ? [] : wrote));
    const config = configOf(who);
    const on = await setStage(({ step }) => (step === 0 ? calls : 'done'), {
      tools: TOOLS,
      toolsets: config.toolsets,
      config: { tools: config.tools },
    });
    const { root } = await on.perform();
    const results = await on.results(root);
    for (const [index, { answers }] of answered.entries()) {
      assert.equal(results[index]?.status, 'error');
      const output = results[index]?.output ?? '';
      const said = output.startsWith('{"error"')
        ? (JSON.parse(output) as { error: { message: string } }).error.message
        : output;
      assert.match(said, answers as RegExp);
    }
  });
}
