// Proves that an agent starts workflows with the tool `workflow` only where a person has allowed it, goes on meanwhile, and is told of the end.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createWorkflowTool } from '../../src/trees/workflow/workflow-tool.ts';
import { META } from './played-script.ts';
import { RULES, workflowHome } from './run-workflow.ts';

const SCRIPT = `${META}return [args, await agent('say one'), await agent('boom', { label: 'bad' })]`;
const home = workflowHome([
  {
    when: { user: '^start', step: 0 },
    calls: [{ name: 'workflow', input: { script: SCRIPT, args: { n: 1 } } }],
  },
  { when: { user: '^unreadable', step: 0 }, calls: [{ name: 'workflow', input: { script: 'return 1' } }] },
  { when: { user: '^both', step: 0 }, calls: [{ name: 'workflow', input: { script: SCRIPT, name: 'x' } }] },
  { when: { user: '^nested', step: 0 }, calls: [{ name: 'workflow', input: { scriptPath: './nested.js' } }] },
  { when: { user: 'Subagent: ' }, say: 'heard: {{user}}' },
  {
    when: { user: '^guide', step: 0 },
    calls: [
      { name: 'skill', input: { name: 'workflow-scripts' } },
      { name: 'skill', input: { name: 'workflow-scripts', file: 'audit.js' } },
    ],
  },
  { when: { user: '^guide' }, say: 'called: {{results.skill.0}}{{results.skill.1}}' },
  { when: { tool: 'workflow' }, say: 'called: {{result}}' },
  ...RULES,
]);
const run = (prompt: string, ...more: readonly string[]) =>
  home.run(['run', prompt, '--toolset', 'workflow', '--json', ...more]);
const reply = async (...given: Parameters<typeof run>) => {
  const { stdout, stderr } = await run(...given);
  assert.match(stdout, /"reply"/, stdout + stderr);
  return JSON.parse(stdout) as { reply: string; outcome_text: string; agents: { name: string }[] };
};

describe('the tool workflow', { concurrency: true }, () => {
  it('runs what is allowed by name; the end is announced with the failures first', async () => {
    const { reply: said, outcome_text } = await reply('start', '--allow', 'workflow:test');
    assert.match(
      said,
      /^heard: \[Subagent: test, workflow run [0-9a-f]{8}\] Complete, but 1 of 2 agents failed\.\n/,
    );
    assert.match(said, /\[Did: 2 agents created; \d+ s\]$/);
    assert.match(said, /Of 2 agents 1 failed:\s+- bad: no rule[\s\S]*\[\{"n":1\},"one",null\]/);
    assert.match(outcome_text, /^done, 1 of 3 failed/);
  });

  for (const [name, more] of [
    ['nothing allows it', []],
    ['another one is allowed', ['--allow', 'workflow:other']],
    ['it is denied', ['--yes', '--deny', 'workflow:test']],
  ] as const)
    it(`starts nothing where ${name}`, async () => {
      const { reply: said, agents } = await reply('start', ...more);
      assert.match(said, /^called: .*(denied|approval|not allowed)/i);
      assert.equal(agents.length, 1);
    });

  it('refuses what is no script, with the line, and more than one source', async () => {
    assert.match((await reply('unreadable', '--yes')).reply, /called: .*export const meta/);
    assert.match((await reply('both', '--yes')).reply, /called: .*give one of script, name and scriptPath/);
  });

  it('names the guide for authors, which agents with the toolset can read, with its examples', async () => {
    const { description, input } = createWorkflowTool({} as never).spec;
    assert.match(description, /skill workflow-scripts/);
    // 450 tokens
    assert.ok(JSON.stringify({ description, input }).length < 1_600);
    const { reply: said } = await reply('guide');
    assert.match(
      said,
      /^called: \[skill workflow-scripts, .*audit\.js.*\]\n---[\s\S]*# Writing workflow scripts/,
    );
    assert.match(said, /export const meta = \{\n {2}name: 'audit'/);
  });

  it('is not there without its toolset, nor for the agents of a workflow', async () => {
    const { stdout } = await home.run(['run', 'start', '--yes', '--json']);
    assert.match(JSON.parse(stdout).reply, /called: .*(no tool|unknown|not available)/i);
    home.script('nested', "return agent('start')");
    const { reply: said } = await reply('nested', '--yes');
    assert.match(said, /heard: [\s\S]*called: .*(no tool|unknown|not available)/i);
  });
});
