import type { ScriptedRules } from '../../src/models/scripted/scripted-rules.ts';
import { type Call, LONGEST_WAIT, turns } from '../judge/scripted-turns.ts';

/** Kinds of trees, each with the vocabulary of its root; a root is named `KIND-NUMBER`. */
export const KINDS = {
  process: ['process'],
  family: ['process'],
  killer: ['process'],
  fanout: ['fanout'],
  sessions: ['sessions'],
  delegate: ['delegate'],
} as const;
export type Kind = keyof typeof KINDS;

/** Delay before each answer and duration of each counted call, long enough to be hit by faults. */
const ANSWER_MS = 300;
const CALL_SECONDS = 0.5;
/** Sequential calls of each leaf agent. */
const CALLS = 5;

/**
 * Rules that lead to the same reply however often a call is interrupted. Agents count with `bash` (one line per call, by O_APPEND, in the
 * file `counts`: agent and call), and what was interrupted is done again as a new call. Steps are rules that answer `once`.
 * `size` is how many agents a root creates.
 */
export function treeRules(counts: string, size: number): ScriptedRules {
  const command = `echo {{agent.id}} {{call.id}} >> '${counts}'; sleep ${CALL_SECONDS}; echo counted`;
  const count = { name: 'bash', input: { command } };
  const counting = each(CALLS, () => [count]);
  const fork = (name: string, repeat: number) => ({ name: 'fork', input: { name, prompt: 'count' }, repeat });
  const wait = { name: 'wait', input: { timeout: LONGEST_WAIT, from_agents: '{{results.fork.*.agent_id}}' } };
  const waitForAnybody = { name: 'wait', input: { timeout: LONGEST_WAIT } };
  const send = (message: string) => ({ name: 'send', input: { to: '{{parent_id}}', message } });
  const kill = (at: number) => ({ name: 'kill', input: { agent_id: `{{results.fork.${at}.agent_id}}` } });
  // A wait of an agent in the middle may also name the parent that waits for it.
  const told = (rows: number) =>
    each(rows, (at) => {
      const row = `results.wait.-1.results.${at}`;
      return `{{${row}.name}}: {{${row}.message}}; `;
    }).join('');
  const rules = [
    { when: { tool: 'bash', result: '^Interrupted' }, calls: [count] },
    ...turns({ agent: 'process-*' }, [[fork('w{{index}}', size)], [count], [wait], told(size)]),
    ...turns({ agent: 'family-*' }, [[fork('g{{index}}', 2)], [wait], told(2)]),
    ...turns({ agent: 'g*' }, [
      [fork('w{{index}}', branch(size))],
      [wait],
      [send(told(branch(size)))],
      'Done.',
    ]),
    ...turns({ agent: 'killer-*' }, [
      [fork('v{{index}}', 2)],
      [count],
      [count],
      [kill(0), kill(1)],
      'both are killed',
    ]),
    ...turns({ agent: 'v*' }, [[fork('u', 1)], [count], [waitForAnybody], 'nobody wrote']),
    ...turns({ agent: 'u*' }, [[waitForAnybody], 'nobody wrote']),
    ...turns({ agent: 'w*' }, [...counting, [send('counted')], 'Done.']),
    ...turns({ agent: 'fanout-*' }, [[spawnAll(size)]]),
    { when: { agent: 'fanout-*', user: each(size, (at) => `s${at} counted`).join('.*') }, say: ALL_IN },
    ...turns({ agent: 'sessions-*' }, [[spawnInBackground(size)], 'heard']),
    ...turns({ agent: 'delegate-*' }, [
      [spawnAndAwait(size)],
      each(size, (at) => `{{results.subagent_spawn.${at}}}; `).join(''),
    ]),
    ...turns({ agent: 's*' }, [...counting]),
    {
      when: { agent: 's*' },
      calls: [{ name: 'submit_result', input: { result: '{{agent.name}} counted' } }],
    },
    ...turns({ agent: 'r*' }, [...counting, '{{agent.name}} counted']),
    ...turns({ agent: 'd*' }, [...counting, '{{agent.name}} counted']),
  ];
  return { rules: rules.map((rule) => ({ ...rule, delay_ms: ANSWER_MS })) };
}

/** The root's reply when its tree has ended correctly, whatever interrupted it. */
export function expectedReply(kind: Kind, size: number): string {
  const counted = (times: number) => each(times, (at) => `w${at}: counted; `).join('');
  switch (kind) {
    case 'process':
      return counted(size);
    case 'family':
      return `g0: ${counted(branch(size))}; g1: ${counted(branch(size))}; `;
    case 'delegate':
      return each(size, (at) => `d${at} counted; `).join('');
    case 'fanout':
      return ALL_IN;
    case 'killer':
      return 'both are killed';
    case 'sessions':
      return 'heard';
  }
}

const ALL_IN = 'all results are in';

/** Agents below each of the two children of a family's root. */
function branch(size: number): number {
  return Math.max(1, Math.floor(size / 2) - 1);
}

function each<T>(times: number, word: (at: number) => T): T[] {
  return Array.from({ length: times }, (_, at) => word(at));
}

function spawnAll(size: number): Call {
  return {
    name: 'spawn_agents',
    input: { tasks: each(size, (at) => `s${at}`).map((label) => ({ task: 'count', label })) },
  };
}

function spawnInBackground(repeat: number): Call {
  const input = { task: 'count', label: 'r{{index}}', timeoutSeconds: LONGEST_WAIT };
  return { name: 'sessions_spawn', input, repeat };
}

function spawnAndAwait(repeat: number): Call {
  return {
    name: 'subagent_spawn',
    input: { task: 'count', description: 'd{{index}}', maxTurns: 90 },
    repeat,
  };
}
