import type { Agent } from '../core/agent.ts';
import type { Mail } from '../core/mail.ts';
import { isWorking } from '../core/state.ts';
import type { Store } from '../store/store.ts';

/** Whether a tree has something left to do: a turn under way, a queued run, or mail that somebody has not been told of. */
export async function isUnfinished(store: Store, root_id: string): Promise<boolean> {
  const living = await store.agents({ root_id, living: true });
  if (living.some((agent) => isWorking(agent.state.type))) return true;
  for (const agent of living) if (await hasWork(store, agent)) return true;
  return false;
}

/** The same of one agent that has not ended. */
export async function hasWork(store: Store, agent: Agent): Promise<boolean> {
  if (isWorking(agent.state.type)) return true;
  if (agent.mail_count === 0) return false;
  return (await store.mail(agent.id)).some((mail) => isNews(mail, agent));
}

/** Letters that an agent was given notice of may lie unread for good (seed 2). */
function isNews(mail: Mail, agent: Agent): boolean {
  return mail.kind !== 'letter' || mail.number > agent.noticed;
}
