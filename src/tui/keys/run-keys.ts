import { randomUUID } from 'node:crypto';
import { matchesKey } from '@earendil-works/pi-tui';
import { type Agent, isActive } from '../../records/agent/agent.ts';
import type { WorkflowTerms } from '../../records/workflow/workflow-terms.ts';
import type { WorkflowSteer } from '../../runtime/runtime-face.ts';
import { rerunWorkflow } from '../../trees/workflow/rerun-run.ts';
import { saveRun } from '../../trees/workflow/save-run.ts';
import { retryAgent, steerRun } from '../../trees/workflow/steer-runs.ts';
import type { AppContext } from '../app-context.ts';
import { askKill } from '../commands/agents/kill.ts';
import { startRun } from '../commands/saved/workflow.ts';
import { selectedOf, workflowView } from '../state/agents/workflow-runs.ts';
import type { Overlay } from '../state/ui-state.ts';
import { printable, rowStep } from './action-of.ts';

/** Handles a key while a workflow run is open. */
export function runKey(app: AppContext, overlay: Extract<Overlay, { type: 'run' }>, data: string): void {
  const run = app.state.agents.get(overlay.run_id);
  const close = () => app.dispatch({ type: 'overlay', overlay: null });
  if (run === undefined || matchesKey(data, 'escape') || matchesKey(data, 'ctrl+c')) return close();
  const view = workflowView(app.state, run);
  const ids = view.phases.flatMap(({ agents }) => agents.map(({ id }) => id));
  const selected = selectedOf(view, overlay.selected);
  const by = rowStep(data);
  if (by !== 0) {
    const to = Math.max(0, Math.min(ids.length - 1, ids.indexOf(selected ?? '') + by));
    return app.dispatch({ type: 'overlay', overlay: { ...overlay, selected: ids[to] ?? null } });
  }
  if (matchesKey(data, 'enter')) return app.dispatch({ type: 'visit', agent_id: selected ?? run.id });
  const steer = (how: WorkflowSteer) => app.attempt(async () => void (await steerRun(app, run.id, how)));
  switch (printable(data)) {
    case 'p':
      return steer(run.config.workflow?.paused === undefined ? 'pause' : 'resume');
    case 'x':
      return steer('stop');
    case 'k':
      return selected === null ? undefined : askKill(app, [selected]);
    case 'r':
      if (!isActive(run)) return app.attempt(() => rerun(app, run));
      return selected === null ? undefined : app.attempt(async () => void (await retryAgent(app, selected)));
    case 'm':
      close();
      return app.editor.setText(`/send ${(selected ?? run.id).slice(0, 8)} `);
    case 'w':
      return saves(app, run);
  }
}

/** A new run below the main agent, which is told of its end. Its script was agreed to. */
async function rerun(app: AppContext, { id }: Agent): Promise<void> {
  const { config } = await rerunWorkflow(app.store, id, {});
  const workflow = config.workflow as WorkflowTerms;
  await startRun(app, { id: randomUUID(), run_id: randomUUID(), workflow, by: 'you' });
}

/** Saves the script as a command of the folder. Who saves it has seen it run, so it is trusted. */
function saves(app: AppContext, { id, name, config }: Agent): void {
  app.attempt(async () => {
    const to = { name, folder: config.cwd, overwrites: false, accept: app.options.trust.accept };
    const { path } = await saveRun(app.store, id, to);
    app.say(`saved as ${path}: /${name} runs it`, 'now');
  });
}
