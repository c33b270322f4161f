import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { loaded, loadScript } from '../../models/workflow/saved-scripts.ts';
import { readMeta } from '../../models/workflow/script-source.ts';
import type { Tool } from '../../records/tool.ts';
import { DEFAULT_CALLS } from '../../records/workflow/workflow-terms.ts';
import type { RuntimeFace } from '../../runtime/runtime-face.ts';
import { defineOwnTool } from '../../tools/define-tool.ts';

const input = z
  .strictObject({
    script: z
      .string()
      .optional()
      .describe(
        "JavaScript. First: export const meta = { name: 'kebab-case', description: 'one line' }. Then plain code with top-level await; it ends with return RESULT. agent(prompt, { label, phase, schema, model, agentType: PROFILE }) gives an agent's last words, or with a JSON Schema the checked value; null if it failed. parallel([() => agent(…), …]) waits for all; pipeline(items, async (item) => …, async (previous, item, index) => …) takes each through all stages by itself. Both give an array in order; an entry that threw is null. Agents share your folder and work at once: say who may change what. log(text) is for people; return what you need. Also phase(title), args, budget, workflow(name, args), ask(question, { choices }), sleep(seconds). No files or network: agents do the work. At most 1,000 agents.",
      ),
    name: z.string().optional().describe('Instead: a saved workflow.'),
    scriptPath: z.string().optional().describe('Instead: the path of a script.'),
    args: z.unknown().optional().describe('What the script sees as args.'),
  })
  .refine(
    ({ script, name, scriptPath }) =>
      [script, name, scriptPath].filter((one) => one !== undefined).length === 1,
    {
      path: ['script'],
      message: 'give one of script, name and scriptPath',
    },
  );

type Input = z.infer<typeof input>;

/** The tool `workflow`: starts a run as a child of the caller, by an order in its mailbox, and returns at once. */
export function createWorkflowTool(runtime: () => Pick<RuntimeFace, 'startWorkflow'>): Tool<Input> {
  return {
    ...defineOwnTool<Input>({
      name: 'workflow',
      description:
        'Run a script that orchestrates agents. Returns at once; its end is announced to you. Each agent sees only its prompt, so say in it all that it must know.',
      input,
      permission: { subject: 'text' },
      subject: nameOf,
      difference: ({ script }) =>
        script === undefined
          ? null
          : script
              .split('\n')
              .map((line) => `+${line}`)
              .join('\n'),
      async run(given, { agent, cwd, spill_dir }) {
        const { source, meta, hash, path } = scriptOf(given, cwd, spill_dir);
        const [id, run_id] = [randomUUID(), randomUUID()];
        const workflow = {
          ...{ name: meta.name, description: meta.description, script: source },
          ...(given.args === undefined ? {} : { args: JSON.stringify(given.args) }),
          ...{ seed: hash, started_at: Date.now(), calls: DEFAULT_CALLS },
        };
        await runtime().startWorkflow(agent.id, { id, run_id, workflow, by: agent.name });
        return JSON.stringify({
          status: 'accepted',
          run: id,
          name: meta.name,
          script: path,
          note: 'its end wakes you',
        });
      },
    }),
    audience: ({ toolsets }) => toolsets.includes('workflow'),
  };
}

/** What rules match. */
function nameOf({ script, name, scriptPath }: Input): string {
  if (script === undefined) return name ?? scriptPath ?? '';
  try {
    return readMeta(script).name;
  } catch {
    return '(unreadable)';
  }
}

function scriptOf({ script, name, scriptPath }: Input, cwd: string, spill_dir: string) {
  if (script === undefined) return loadScript(name ?? `./${scriptPath}`.replace(/^\.\/\//, '/'), cwd);
  const read = loaded(script);
  mkdirSync(spill_dir, { recursive: true });
  const path = join(spill_dir, `workflow-${read.hash.slice(0, 12)}.js`);
  writeFileSync(path, script);
  return { ...read, path };
}
