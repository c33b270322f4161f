import { isActive } from '../../records/agent/agent.ts';
import type { ResumeOptions, ResumeReport, RuntimeFace } from '../../runtime/runtime-face.ts';
import type { Store } from '../../store/store.ts';
import { assertMayLeadHere } from './leaders.ts';

/** Maximum wait for a restarted agent to be working. */
const SOON_MS = 2_000;

/**
 * Takes over a tree and makes it a served one. If failed agents are restarted, resolves once one of them is working, so that callers do not still see
 * them as failed.
 */
export async function resumeTree(
  {
    store,
    runtime,
    env,
  }: { readonly store: Store; readonly runtime: RuntimeFace; readonly env: NodeJS.ProcessEnv },
  root_id: string,
  how: ResumeOptions,
): Promise<ResumeReport> {
  await assertMayLeadHere(store, root_id, env);
  await store.serveTree(root_id);
  // A tree at rest in this process is first released, then taken over like one that nobody leads.
  await runtime.release(root_id);
  const restarted = Promise.withResolvers<void>();
  const unsubscribe = runtime.subscribe((event) => {
    if (event.type === 'agent' && event.agent.root_id === root_id && isActive(event.agent))
      restarted.resolve();
  });
  const late = setTimeout(restarted.resolve, SOON_MS);
  try {
    const report = await runtime.resume(root_id, how);
    const { retry, without_last, model, limits } = how;
    const restarts = [retry, without_last, model, limits].some((one) => one !== undefined && one !== false);
    if (restarts && report.agents.some(({ state }) => state.type === 'errored')) await restarted.promise;
    return report;
  } finally {
    clearTimeout(late);
    unsubscribe();
  }
}
