import { isTerminal } from '../../core/state.ts';
import type { Draft } from './draft.ts';
import type { View } from './view.ts';

/**
 * What a step says to the chat that a person talks with the agent's tree in: calls that must be allowed, and the replies of the root. It enters the
 * outbox in the transaction of the step, so it is neither lost nor said twice.
 */
export function tellOutside(draft: Draft, around: View): void {
  const { id, root_id, parent_id, config } = draft.before;
  const target = config.channel;
  if (target === undefined) return;
  const common = { target, root_id, agent_id: id, created_at: around.now };
  for (const ask of draft.asks)
    draft.deliver.push({ ...common, id: `ask-${ask.id}`, kind: 'ask', about: ask.id, body: null });
  // The end of a run is delivered by its row in the history.
  if (parent_id !== null || config.task !== undefined) return;
  for (const { seq, text } of draft.ended_turns) {
    const body = text.trim() === '' ? '(no answer)' : text;
    draft.deliver.push({ ...common, id: `reply-${id}-${seq}`, kind: 'reply', about: null, body });
  }
}

/** A run on a timer ends with its turn, and whatever it forked with it: nobody would hear of that any more. */
export function endTreeOfRun(draft: Draft, around: View): void {
  const { before, state } = draft;
  if (before.origin !== 'cron' || !isTerminal(state.type) || isTerminal(before.state.type)) return;
  for (const agent of around.forest.subtree(before))
    if (agent.parent_id === before.id) draft.kill.push(agent.id);
}
