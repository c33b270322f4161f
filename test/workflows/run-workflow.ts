import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openStore } from '../../src/store/open-store.ts';
import type { CliResult } from '../cli/residents.ts';
import { type Home, makeHome } from '../cli/run-cli.ts';
import { META } from './played-script.ts';

/** What agents of workflows answer here: `say X` X, `object {…}` that object, `hang` nothing for ten minutes; anything else fails. */
export const RULES: readonly object[] = [
  { when: { user: '^say ' }, say: '{{user.^say ([^\n]*)}}' },
  {
    when: { user: '^object ' },
    calls: [{ name: 'submit_result', input: { result: '{{user.^object ([^\n]*)}}' } }],
  },
  { when: { user: '^hang' }, delay_ms: 600_000, say: 'late' },
];

export interface WorkflowHome extends Home {
  /** Writes a script; returns the argument that names it. */
  script(name: string, body: string): string;
  /** `coppice workflow run`, allowed. */
  workflow(body: string, ...more: readonly string[]): Promise<CliResult>;
  json(...args: readonly string[]): Promise<Record<string, unknown>>;
}

export function workflowHome(rules: readonly object[] = RULES, configuration: object = {}): WorkflowHome {
  const home = makeHome();
  writeFileSync(join(home.work, 'rules.json'), JSON.stringify({ rules }));
  home.configure({ model: 'scripted:rules.json', ...configuration });
  let written = 0;
  const script = (name: string, body: string): string => {
    writeFileSync(join(home.work, `${name}.js`), META.replace("'test'", `'${name}'`) + body);
    return `./${name}.js`;
  };
  return {
    ...home,
    script,
    workflow(body, ...more) {
      written += 1;
      return home.run(['workflow', 'run', script(`script-${written}`, body), '--yes', ...more]);
    },
    async json(...args) {
      const { stdout, stderr } = await home.run([...args, '--json']);
      if (stdout === '') throw new Error(stderr);
      return JSON.parse(stdout);
    },
  };
}

/** Of each agent that a script started, by its prompt: how many requests it made, and how many agents had this prompt. */
export async function turnsOf(database: string): Promise<Map<string, number>> {
  const store = await openStore(database);
  try {
    const turns = new Map<string, number>();
    for (const { id, origin } of await store.agents({})) {
      if (origin === 'root') continue;
      const history = await store.history(id);
      const [first] = history.flatMap((one) => (one.kind === 'user' ? [one.content.text] : []));
      const answers = history.filter(({ kind }) => kind === 'assistant').length;
      const prompt = (first ?? '').split('\n')[0] as string;
      turns.set(prompt, (turns.get(prompt) ?? 0) + answers);
    }
    return turns;
  } finally {
    await store.close();
  }
}
