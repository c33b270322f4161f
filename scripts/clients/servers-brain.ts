import type { Answer, Exchange } from '../../test/servers/brain.ts';

export const OWNERS = ['ann', 'bob', 'cyn'] as const;

type Step = readonly [tool: string, input: object];

/** Calls of one of the three agents, in order. Two of the tools are denied by rules. */
function stepsOf(owner: string, pages: string): readonly Step[] {
  const sql = (text: string): Step => ['database__execute_sql', { sql: text }];
  return [
    sql(`SELECT count(*) AS before, pg_sleep(1)::text FROM notes WHERE owner = '${owner}'`),
    sql(`INSERT INTO notes (owner, points) VALUES ('${owner}', ${owner.charCodeAt(0)})`),
    ['database__forget_notes', { owner }],
    sql(`SELECT 'sum-' || sum(points) AS total FROM notes WHERE owner = '${owner}'`),
    ['browser__browser_navigate', { url: `${pages}/page?for=${owner}` }],
    ['browser__browser_evaluate', { function: `() => fetch('/denied?by=${owner}')` }],
    ['browser__browser_click', { element: 'the button', target: 'button' }],
    ['browser__browser_find', { text: 'greeting' }],
  ];
}

/**
 * Model of a root that gives a task to each of three agents, and of these agents. They wait for each other before each call, so that all of them use the
 * servers concurrently, and an agent that is served by another's browser reports the other's page.
 */
export function serversBrain(pages: string): (exchange: Exchange) => Promise<Answer> {
  const waiting = new Map<number, (() => void)[]>();
  const together = (step: number): Promise<void> =>
    new Promise((go) => {
      const all = [...(waiting.get(step) ?? []), go];
      waiting.set(step, all);
      if (all.length === OWNERS.length) for (const one of all) one();
    });
  return async ({ messages }) => {
    const users = messages.filter(({ role }) => role === 'user').map(({ text }) => text);
    const owner = users.map((text) => /TASK of (\w+)/.exec(text)?.[1]).find((found) => found !== undefined);
    const outputs = messages.flatMap(({ results }) => results.map(({ output }) => output));
    if (users[0]?.includes('TRIAL') === true) {
      const tasks = OWNERS.map((one) => ({ task: `TASK of ${one}`, label: one }));
      if (outputs.length === 0) return { calls: [{ name: 'spawn_agents', input: { tasks } }] };
      const outcomes = users.find((text) => text.includes('sub_agent_results'));
      return { text: outcomes === undefined ? 'I wait.' : `COLLECTED ${outcomes}` };
    }
    if (owner === undefined) return { text: 'nothing to do' };
    const step = stepsOf(owner, pages)[outputs.length];
    if (step === undefined) {
      const sum = /sum-\d+/.exec(outputs[3] ?? '')?.[0];
      const [greeting] = /greeting for \w+, clicked \d+ times/.exec(outputs.at(-1) ?? '') ?? [];
      const denied = outputs.filter((output) => /denied|not allowed/i.test(output)).length;
      return {
        calls: [
          { name: 'submit_result', input: { result: `${owner}: ${sum}; ${greeting}; ${denied} denied` } },
        ],
      };
    }
    await together(outputs.length);
    const [name, input] = step;
    return { calls: [{ name, input }] };
  };
}
