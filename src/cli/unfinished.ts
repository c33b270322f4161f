import type { Agent } from '../core/agent.ts';
import type { Mail } from '../core/mail.ts';
import { isWorking } from '../core/state.ts';
import type { Store } from '../store/store.ts';

/** Whether a tree has something left to do: a turn under way, a queued run, or mail that somebody has not been told of. */
export async function isUnfinished(store: Store, root_id: string): Promise<boolean> {
  const living = await store.agents({ root_id, living: true });
  if (living.some((agent) => isWorking(agent.state.type))) return true;
  for (const agent of living) {
    if (agent.mail_count === 0) continue;
    const pending = await store.mail(agent.id);
    if (pending.some((mail) => isNews(mail, agent))) return true;
  }
  return false;
}

/** Letters that an agent was given notice of may lie unread for good (seed 2). */
function isNews(mail: Mail, agent: Agent): boolean {
  return mail.kind !== 'letter' || mail.number > agent.noticed;
}
