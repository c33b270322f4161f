import type { AppContext } from '../../app-context.ts';

/** `/reap`: removes dead agents from the list. */
export async function reap(app: AppContext, view: string): Promise<void> {
  const root_id = app.state.root_id ?? view;
  await app.store.reap(root_id, Date.now());
  // Agents reaped in another terminal disappear here, too.
  const gone = (await app.store.agents({ root_id })).filter((agent) => agent.reaped_at !== null);
  const ids = gone.map((agent) => agent.id).filter((id) => app.state.agents.has(id));
  if (ids.length > 0) app.dispatch({ type: 'reaped', ids });
  app.say(ids.length === 0 ? 'there are no dead agents' : `removed ${ids.length} dead`);
}
