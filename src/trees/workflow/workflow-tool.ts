import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import * as z from 'zod';
import { budgetDocument, budgetLines } from '../../documents/budget-json.ts';
import {
  type LoadedScript,
  loaded,
  loadScript,
  type ScriptTrust,
} from '../../models/workflow/saved-scripts.ts';
import { wholeScript } from '../../models/workflow/scripts-within.ts';
import { containAllowedPath } from '../../permissions/path-guard.ts';
import { scriptSubject, WORKFLOW_PERMISSION } from '../../permissions/tool-permission.ts';
import type { Tool, ToolContext } from '../../records/tool.ts';
import { DEFAULT_CALLS } from '../../records/workflow/workflow-terms.ts';
import { clean } from '../../render/clean.ts';
import type { RuntimeFace } from '../../runtime/runtime-face.ts';
import type { Store } from '../../store/store.ts';
import { defineOwnTool } from '../../tools/define-tool.ts';
import { consentLines } from './workflow-consent.ts';

const input = z
  .strictObject({
    script: z
      .string()
      .optional()
      .describe(
        "JavaScript. First: export const meta = { name: 'kebab-case', description: 'one line' }. Then plain code with top-level await; it ends with return RESULT. agent(prompt, { label, phase, schema, model, agentType: PROFILE, isolation: 'worktree' }) gives an agent's last words, or with a JSON Schema (of an object) the checked object; null if it failed. parallel([() => agent(…), …]) waits for all; pipeline(items, async (item) => …, async (previous, item, index) => …) takes each through all stages by itself. Both give an array in order; an entry that threw is null. Agents share your folder and work at once: say who may change what. log(text) is for people; return what you need. Also phase(title), args, budget, workflow(name, args), ask(question, { choices }), sleep(seconds). No files or network: agents do the work. At most 1,000 agents.",
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

interface WorkflowToolParts {
  readonly runtime: () => Pick<RuntimeFace, 'startWorkflow'>;
  readonly store: Pick<Store, 'agent' | 'tree' | 'pastAgents'>;
  readonly trust: ScriptTrust;
}

/** The tool `workflow`: starts a run as a child of the caller, by an order in its mailbox, and returns at once. */
export function createWorkflowTool({ runtime, store, trust }: WorkflowToolParts): Tool<Input> {
  return {
    ...defineOwnTool<Input>({
      name: 'workflow',
      description:
        'Run a script that orchestrates agents. Returns at once; its end is announced to you. Each agent sees only its prompt, so say in it all that it must know. Before you write a script, read the skill workflow-scripts: the guide, with examples.',
      input,
      permission: WORKFLOW_PERMISSION,
      subject: (given, cwd = '.') => subjectOf(given, cwd, trust),
      async refusal(given, context) {
        const { scriptPath } = given;
        if (scriptPath !== undefined && isAbsolute(scriptPath)) return null;
        try {
          if (scriptPath !== undefined) containAllowedPath('read', scriptPath, context);
          scriptOf(given, context.cwd, trust);
          return null;
        } catch (error) {
          return (error as Error).message;
        }
      },
      async difference(given, { cwd, agent }) {
        const script = scriptOf(given, cwd, trust);
        const asking = agent === undefined ? null : await store.agent(agent.id);
        if (asking === null) return null;
        const budget = budgetLines(await budgetDocument(store, asking));
        const told = await consentLines(store, script, given.args, asking.config, budget).catch(
          // The person sees the script all the same.
          (error: Error) => [clean(error.message)],
        );
        return `${told.join('\n')}\n${wholeScript(script.source, script.within).replaceAll(/^/gm, '+')}`;
      },
      async run(given, context) {
        const { agent, cwd, spill_dir, subject } = context;
        if (given.scriptPath !== undefined) checkPath(given.scriptPath, context);
        const script = scriptOf(given, cwd, trust);
        const { source, meta, hash, path } = script;
        if (subject !== scriptSubject(meta.name, hash))
          throw new Error('the script changed meanwhile: call it again');
        const args = given.args === undefined ? undefined : JSON.stringify(given.args);
        const order = startOrder(script, args, agent.name);
        await runtime().startWorkflow(agent.id, order);
        return JSON.stringify({
          status: 'accepted',
          run: order.id,
          name: meta.name,
          script: path ?? kept(source, hash, spill_dir),
          note: 'its end wakes you',
        });
      },
    }),
    audience: ({ toolsets }) => toolsets.includes('workflow'),
  };
}

export type StartOrder = Parameters<RuntimeFace['startWorkflow']>[1];

/** The order that starts a script below an agent. `args`: JSON; `by`: who starts it. */
export function startOrder(
  { source, meta, hash, within }: Pick<LoadedScript, 'source' | 'meta' | 'hash' | 'within'>,
  args: string | undefined,
  by: string,
): StartOrder {
  const { name, description } = meta;
  const workflow = {
    ...{ name, description, script: source, within, ...(args === undefined ? {} : { args }) },
    ...{ seed: hash, started_at: Date.now(), calls: DEFAULT_CALLS },
  };
  return { id: randomUUID(), run_id: randomUUID(), workflow, by };
}

/** What rules match, and what a person allows: these contents. */
function subjectOf(given: Input, cwd: string, trust: ScriptTrust): string {
  try {
    const { name, hash } = scriptOf(given, cwd, trust);
    return scriptSubject(name, hash);
  } catch {
    return given.name ?? '(unreadable)';
  }
}

function scriptOf({ script, name, scriptPath }: Input, cwd: string, trust: ScriptTrust) {
  if (script !== undefined) return { ...loaded(script, cwd, trust), path: null };
  return loadScript(name ?? `./${scriptPath}`.replace(/^\.\/\//, '/'), cwd, trust);
}

/** A model may name files that it may read, and scripts of its own that were kept. */
function checkPath(path: string, context: ToolContext): void {
  if (isAbsolute(path) && dirname(path) === context.spill_dir) return;
  containAllowedPath('read', path, context);
}

function kept(source: string, hash: string, spill_dir: string): string {
  mkdirSync(spill_dir, { recursive: true });
  const path = join(spill_dir, `workflow-${hash.slice(0, 12)}.js`);
  writeFileSync(path, source);
  return path;
}
