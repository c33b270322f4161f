import { isTerminal, isWorking } from '../../records/agent/state.ts';
import type { Completion } from '../../records/conversation/completion.ts';
import { deliveryId } from '../../records/run/delivery.ts';
import { storable } from '../../records/text/text.ts';
import { sendersIn } from '../mailbox/mail-frame.ts';
import type { Draft } from './draft.ts';
import type { EndedTurn } from './ended-turn.ts';

/** Notifies everybody concerned of the end of a turn, in the same step. */
export function tellOthers(draft: Draft): void {
  reportToParent(draft);
  tellOutside(draft);
  endTreeOfRun(draft);
}

/**
 * A child that reports by mail may fail to do so: its model fails, a limit disables its tools, or it answers with text only. Its parent may be resting
 * until mail arrives, so it gets the completion message that the child should have sent.
 */
function reportToParent(draft: Draft): void {
  const { led, view } = draft;
  const { parent_id } = led.agent;
  const parent = parent_id === null ? undefined : view.relatives.agent(parent_id);
  if (!view.notices || parent === undefined || isTerminal(parent.state.type)) return;
  for (const turn of draft.ended_turns) {
    const completion = completionOf(turn, draft);
    const { did } = turn;
    if (completion !== null)
      draft.write(
        parent.id,
        'letter',
        storable(JSON.stringify(completion)),
        view.now,
        did === undefined ? {} : { did },
      );
  }
}

function completionOf({ text, cause, reported }: EndedTurn, draft: Draft): Completion | null {
  if (cause !== null) {
    const said = draft.said('spoken-to');
    const partial = said === '' ? {} : { partial: said };
    return { status: 'idle', success: false, error: cause, ...partial };
  }
  if (reported || !endsTask(draft)) return null;
  return { status: 'idle', success: true, summary: text, submitted: false };
}

/**
 * Whether the turn ends the task for which the agent was forked: since then only descendants have written to it, and none of them is still working, has mail
 * that wakes it, or has written a letter that the agent has not read.
 */
function endsTask({ led, view }: Draft): boolean {
  const { agent, prompt, inbox } = led;
  if (agent.origin !== 'fork' || agent.forked_from !== null) return false;
  const [, ...below] = view.relatives.subtree(agent);
  const { text, first } = prompt.spokenTo;
  const senders = sendersIn(text);
  if (!first && (senders.length === 0 || !senders.every((id) => below.some((one) => one.id === id))))
    return false;
  return !below.some((one) => isWorking(one.state.type) || view.hasMail(one) || inbox.hasLetterFrom(one.id));
}

/**
 * Sends to the tree's chat: approvals to give, and the root's replies. They enter the outbox in the transaction of the step, so they are neither lost
 * nor duplicated.
 */
function tellOutside(draft: Draft): void {
  const { id, root_id, parent_id, config } = draft.led.agent;
  const target = config.channel;
  if (target === undefined) return;
  const common = { target, root_id, agent_id: id, created_at: draft.view.now };
  for (const ask of draft.asks)
    draft.deliver({ ...common, id: deliveryId('ask', ask.id), kind: 'ask', about: ask.id, body: null });
  // The end of a run is delivered from the run history.
  if (parent_id !== null || config.task !== undefined) return;
  for (const { seq, text } of draft.ended_turns) {
    const body = text.trim() === '' ? '(no answer)' : text;
    draft.deliver({ ...common, id: deliveryId('reply', id, seq), kind: 'reply', about: null, body });
  }
}

/** A scheduled run ends with its turn; its descendants are killed, since nobody would receive their results. */
function endTreeOfRun(draft: Draft): void {
  const { agent } = draft.led;
  if (agent.origin !== 'cron' || !isTerminal(draft.state.type) || isTerminal(agent.state.type)) return;
  for (const one of draft.view.relatives.subtree(agent)) if (one.parent_id === agent.id) draft.kill(one.id);
}
