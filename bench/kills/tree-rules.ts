import type { ScriptedRules } from '../../src/models/scripted/scripted-rules.ts';
import { type Call, LONGEST_WAIT, turns } from '../judge/scripted-turns.ts';

/** Kinds of trees, each with the vocabulary of its root; a root is called `KIND-NUMBER`. */
export const TREE_KINDS = {
  process: ['process'],
  fanout: ['fanout'],
  delegate: ['delegate'],
  sessions: ['sessions'],
  // Its root is a workflow run.
  workflow: [],
} as const;
export type TreeKind = keyof typeof TREE_KINDS;

/** What the root of a `workflow` tree runs, and the workflow within it. Neither result depends on which agent is first. */
export const SCRIPT = `
phase('Count')
const both = await parallel([0, 1].map((n) => () => agent('count ' + n, { label: 'k' + n })))
await sleep(0.01)
phase('Again')
const again = await pipeline(both, (one) => agent('after ' + one, { label: 'l' }))
const more = await agent('go on', { continue: 'k0' })
const inner = await workflow('inner', { n: 3 })
return [both, again, more, inner, Math.random()]`;
export const INNER_SCRIPT = "return [args.n, await agent('count inside', { label: 'm' })]";

/** Sent by the person when a tree first comes to rest. */
export const SECOND_ROUND = 'second round';

/** Maximum delay before an answer, so that agents do not run in lockstep. */
const MOST_PAUSE_MS = 3;

/**
 * Rules that lead to the same end however often the process dies. Each agent makes the calls that are planned for it and no more: what was
 * interrupted is not repeated. Letters carry the id of the call that sent them, so each is unique.
 */
export function treeRules(): ScriptedRules {
  const count = { name: 'count', input: { id: '{{call.id}}' } };
  const tally = { name: 'tally', input: { id: '{{call.id}}' } };
  const fork = (name: string, repeat: number) => ({ name: 'fork', input: { name, prompt: 'work' }, repeat });
  const send = (to: string) => ({ name: 'send', input: { to, message: 'letter {{call.id}}' } });
  const go = (to: string) => ({ name: 'send', input: { to, message: 'go on, {{call.id}}' } });
  const wait = (from: unknown) => ({ name: 'wait', input: { timeout: LONGEST_WAIT, from_agents: from } });
  const children = '{{results.fork.*.agent_id}}';
  const heard = '{{#each results.wait.-1.results}}{{.name}} {{.status}}; {{/each}}';
  const again = (agent: string, ...answers: readonly (string | readonly Call[])[]) =>
    turns({ agent, user: SECOND_ROUND }, answers);
  const rules = [
    ...again('process-*', [count], 'all have answered twice'),
    ...turns({ agent: 'process-*' }, [
      [fork('w{{index}}', 3)],
      [count],
      [wait(children)],
      [go('w0'), go('w1'), go('w2')],
      [wait(children)],
      [fork('v', 1)],
      [{ name: 'kill', input: { agent_id: '{{results.fork.3.agent_id}}' } }],
      heard,
    ]),
    ...turns({ agent: 'v' }, [[wait(null)], 'nobody wrote']),
    // The others write to the first one, which waits for them; all then write to their parent.
    ...turns({ agent: 'w0', user: 'go on' }, [[wait(['w1', 'w2'])], [count], [send('{{parent_id}}')]]),
    ...turns({ agent: 'w1', user: 'go on' }, [[count], [send('w0')], [send('{{parent_id}}')]]),
    ...turns({ agent: 'w2', user: 'go on' }, [[send('w0'), count], [send('{{parent_id}}')]]),
    ...turns({ agent: 'w*' }, [[count], [tally, tally], [count, count], [send('{{parent_id}}')], 'Done.']),

    ...again('fanout-*', [count], [tally], 'all results are in, twice'),
    ...turns({ agent: 'fanout-*', user: 't0 counted.*t1 counted' }, ['all results are in']),
    ...turns({ agent: 'fanout-*' }, [[spawnAll(['t0', 't1'])]]),
    ...turns({ agent: 't*' }, [[count], [tally, tally]]),
    {
      when: { agent: 't*' },
      calls: [{ name: 'submit_result', input: { result: '{{agent.name}} counted' } }],
    },

    ...again('delegate-*', [count], 'both have answered'),
    ...turns({ agent: 'delegate-*' }, [
      [{ name: 'subagent_spawn', input: { task: 'work', description: 'x{{index}}' }, repeat: 2 }],
      '{{results.subagent_spawn.0}}, {{results.subagent_spawn.1}}',
    ]),
    ...turns({ agent: 'x*' }, [[count], [tally, count], '{{agent.name}} counted']),

    ...turns({ agent: 'k0', user: 'go on' }, [[count], 'went on']),
    ...turns({ agent: 'k*' }, [[count], [tally, tally], '{{agent.name}} counted']),
    ...turns({ agent: 'l*' }, [[count], 'again']),
    ...turns({ agent: 'm*' }, [[tally, count], 'inside']),

    ...again('sessions-*', [tally, tally], 'both were heard'),
    ...turns({ agent: 'sessions-*' }, [
      [{ name: 'sessions_spawn', input: { task: 'work', label: 'r{{index}}' }, repeat: 2 }],
      [count],
      'listening',
    ]),
    ...turns({ agent: 'r*' }, [[count], [tally, tally], '{{agent.name}} counted']),
  ];
  return { rules: rules.map((rule, place) => ({ ...rule, delay_ms: place % (MOST_PAUSE_MS + 1) })) };
}

function spawnAll(labels: readonly string[]): Call {
  return { name: 'spawn_agents', input: { tasks: labels.map((label) => ({ task: 'work', label })) } };
}
