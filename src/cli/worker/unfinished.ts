import type { Agent } from '../../records/agent/agent.ts';
import { isWorking } from '../../records/agent/state.ts';
import { WAKING_MAIL } from '../../records/conversation/mail.ts';
import type { Store } from '../../store/store.ts';

/** Whether a tree has something left to do: a turn under way, a queued run, or mail that somebody has not been told of. */
export async function isUnfinished(store: Store, root_id: string): Promise<boolean> {
  for (const agent of await store.agents({ root_id, living: true }))
    if (await hasWork(store, agent)) return true;
  return false;
}

/** The same of one agent that has not ended. */
export async function hasWork(store: Store, agent: Agent): Promise<boolean> {
  if (isWorking(agent.state.type) || agent.unread === true) return true;
  if (agent.mail_count === 0) return false;
  // An order, or an outcome: it wakes nobody, and is to be taken all the same.
  return (await store.mail(agent.id)).some(({ kind }) => !WAKING_MAIL.has(kind));
}
