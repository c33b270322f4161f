import { budgetDocument, budgetLines } from '../../../documents/budget-json.ts';
import { listedScripts, loadScript } from '../../../models/workflow/saved-scripts.ts';
import { savedScripts } from '../../../models/workflow/script-places.ts';
import { decide } from '../../../permissions/decide.ts';
import { policyOf } from '../../../permissions/policy.ts';
import { scriptSubject, WORKFLOW_PERMISSION } from '../../../permissions/tool-permission.ts';
import { CoppiceError } from '../../../records/coppice-error.ts';
import { clean } from '../../../render/clean.ts';
import { consentLines, unspentBudget } from '../../../trees/workflow/workflow-consent.ts';
import { type StartOrder, startOrder } from '../../../trees/workflow/workflow-tool.ts';
import type { AppContext } from '../../app-context.ts';
import { writeMessage } from '../../composer/write-message.ts';
import { newestRun } from '../../state/agents/workflow-runs.ts';
import { modeInView, rootOf } from '../../state/ui-state.ts';

/** A saved workflow as a command: `/NAME ARGS`. */
export interface SavedCall {
  readonly name: string;
  /** JSON; undefined: none. */
  readonly args: string | undefined;
}

/** The saved workflow that a line calls; what follows is JSON, or else a text. */
export function savedCall(app: AppContext, line: string): SavedCall | null {
  const [, name, text = ''] = /^\/([^\s/]+)(?:\s+([\s\S]*))?$/.exec(line.trim()) ?? [];
  if (name === undefined) return null;
  const saved = savedScripts(app.placeOf(null).folder, app.options.trust.home);
  if (!saved.some((one) => one.name === name)) return null;
  return { name, args: text.trim() === '' ? undefined : jsonOf(text.trim()) };
}

/** Saved workflows for completion. */
export function savedCommands(app: AppContext) {
  return listedScripts(app.placeOf(null).folder, app.options.trust).map(({ name, description, error }) => ({
    ...{ name, hint: '[ARGS]', help: `${clean(description ?? `cannot run: ${error}`)} (workflow)` },
  }));
}

function jsonOf(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return JSON.stringify(text);
  }
}

/** Shows what the workflow would do and asks, unless a rule allows it. Rejects if it cannot be started. */
export async function startSaved(app: AppContext, { name, args }: SavedCall): Promise<void> {
  const { folder, config } = app.placeOf(app.state.root_id);
  const script = loadScript(name, folder, app.options.trust);
  const refuse = (why: string, hint: string) =>
    new CoppiceError('E_REFUSED', `the workflow ${name} was not started: ${why}`, { hint });
  if (modeInView(app.state) === 'plan') throw refuse('you are planning', '/mode ask ends that');
  if (config.workflow !== undefined)
    throw refuse('this conversation is a workflow', '/new begins another one');
  const root = rootOf(app.state);
  const subject = scriptSubject(script.meta.name, script.hash);
  const { verdict, rule } = decide(policyOf(config), WORKFLOW_PERMISSION, subject);
  if (verdict === 'deny') throw refuse(`denied by ${rule}`, 'The configuration has such rules');
  const order = startOrder(script, args, 'you');
  if (verdict === 'allow') return startRun(app, order);
  const budget =
    root === undefined
      ? unspentBudget(app.options.begin(app.next_model))
      : budgetLines(await budgetDocument(app.store, root));
  const given = args === undefined ? undefined : JSON.parse(args);
  const told = await consentLines(app.store, script, given, config, budget);
  const lines = script.source.split('\n').length;
  app.say(
    [`workflow ${clean(name)}`, ...told, `script, ${lines} lines: ${clean(script.path)}`].join('\n  '),
    'now',
  );
  const question = `Start the workflow ${clean(order.workflow.name)}, as shown above?`;
  const run = () => app.enqueue(() => startRun(app, order));
  app.dispatch({ type: 'overlay', overlay: { type: 'consent', question, yes: 'start', run } });
}

/** Starts a run below the main agent, which is told of its end; the first one begins the conversation. */
export async function startRun(app: AppContext, order: StartOrder): Promise<void> {
  if (app.state.root_id === null) await app.startTree(null);
  const { root_id } = app.state;
  if (root_id !== null) await app.runtime.startWorkflow(root_id, order);
}

/** `/workflow TASK`: asks the model for one. `/workflow`: the newest run. */
export function orderWorkflow(app: AppContext, task: string): void {
  if (task !== '')
    return writeMessage(app, app.state.root_id, `Do this with a workflow: ${task}`, `/workflow ${task}`);
  const run = newestRun(app.state);
  if (run !== null)
    return app.dispatch({ type: 'overlay', overlay: { type: 'run', run_id: run.id, selected: null } });
  app.say('no workflow has run here yet: /workflow TASK asks for one; saved ones are commands: /NAME');
}
