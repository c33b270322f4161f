/** Proves that runs of a program are recorded and replayed as cases in several vocabularies, and that its own tools are described anew and not run. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import { defineTool, openCoppice } from '../../src/coppice.ts';
import {
  type CaseOptions,
  createScriptedModel,
  recordRun,
  replayRun,
  type ScriptedRules,
} from '../../src/testing.ts';
import { temporaryFolder } from '../temporary-folder.ts';

type Rules = ScriptedRules['rules'];

const PLAYS: Readonly<
  Record<string, { readonly options: CaseOptions; readonly rules: Rules; readonly reply: string }>
> = {
  'forks that report, a wait, a letter to a sibling': {
    options: { toolsets: ['process'] },
    rules: [
      {
        when: { root: true, step: 0 },
        calls: ['a', 'b', 'c'].map((name) => ({ name: 'fork', input: { name, prompt: 'look' } })),
      },
      {
        when: { root: true, step: 1 },
        calls: [{ name: 'wait', input: { timeout: 60, from_agents: '{{results.fork.*.agent_id}}' } }],
      },
      { when: { root: true }, say: 'heard all' },
      {
        when: { agent: 'a', step: 0 },
        calls: [{ name: 'send', input: { to: '{{parent_id}}', message: 'half way' } }],
      },
      { when: { step: 0 }, calls: [{ name: 'shout', input: { text: 'hi' } }] },
      { say: 'seen' },
    ],
    reply: 'heard all',
  },
  'a fan-out with results': {
    options: { toolsets: ['fanout'] },
    rules: [
      {
        when: { root: true, step: 0 },
        calls: [{ name: 'spawn_agents', input: { tasks: [1, 2, 3].map((n) => ({ task: `count ${n}` })) } }],
      },
      { when: { root: true }, say: 'all counted' },
      { when: { step: 0 }, calls: [{ name: 'shout', input: { text: 'count' } }] },
      { calls: [{ name: 'submit_result', input: { result: 'three' } }] },
    ],
    reply: 'all counted',
  },
  'background runs that announce their results': {
    options: { toolsets: ['sessions'] },
    rules: [
      {
        when: { root: true, step: 0 },
        calls: ['x', 'y'].map((task) => ({ name: 'sessions_spawn', input: { task, label: task } })),
      },
      { when: { root: true, user: 'Complete' }, say: 'heard it' },
      { when: { root: true }, say: 'begun' },
      { say: 'found' },
    ],
    reply: 'heard it',
  },
  'a wait that ends in its time': {
    options: { toolsets: ['process'] },
    rules: [
      { when: { root: true, step: 0 }, calls: [{ name: 'fork', input: { name: 'slow', prompt: 'wait' } }] },
      {
        when: { root: true, step: 1 },
        calls: [{ name: 'wait', input: { timeout: 1, from_agents: '{{results.fork.*.agent_id}}' } }],
      },
      { when: { root: true }, say: 'no longer' },
      { delay_ms: 1_200, say: 'late' },
    ],
    reply: 'no longer',
  },
};

function shoutTool(description: string, ran: string[]) {
  return defineTool({
    ...{ name: 'shout', description, input: { type: 'object', properties: { text: { type: 'string' } } } },
    run(input: { readonly text: string }) {
      ran.push(input.text);
      return `${input.text}!`;
    },
  });
}

for (const [name, { options, rules, reply }] of Object.entries(PLAYS))
  it(`${name}: the replay is as recorded`, async () => {
    const database = `sqlite:${join(temporaryFolder(), 'ledger.db')}`;
    const ran: string[] = [];
    const all: CaseOptions = { ...options, builtInTools: [], tools: [shoutTool('Shouts.', ran)] };
    const model = createScriptedModel({ rules }, 'play');
    const coppice = await openCoppice({ ...all, database, model: 'play', models: { play: model } });
    const agent = await coppice.start({ prompt: 'go' });
    await agent.result();
    await coppice.close();
    const runs = ran.length;
    const recorded = await recordRun(database, agent.id, all);
    assert.equal(recorded.reply, reply);
    const same = await replayRun(JSON.stringify(recorded), all);
    assert.deepEqual(same.divergences, []);
    assert.equal(same.requests, recorded.steps.filter(({ type }) => type === 'answer').length);
    assert.equal(ran.length, runs, 'no tool was run');
    const other = await replayRun(recorded, { ...all, tools: [shoutTool('Shouts loudly.', ran)] });
    const [first] = other.divergences;
    assert.deepEqual([first?.agent, first?.request, first?.what], ['main', 1, 'tool shout']);
    assert.match(first?.now ?? '', /loudly/);
  });
