import type { Completion } from '../../core/completion.ts';
import { isTerminal, isWorking } from '../../core/state.ts';
import { storable } from '../../core/text.ts';
import type { Draft } from './draft.ts';
import type { EndedTurn } from './ended-turn.ts';
import type { LedAgent } from './led-agent.ts';
import { sendersIn } from './mail-frame.ts';
import type { View } from './view.ts';

/**
 * A child that reports by letters of its own (seed 2) may not write one: its model fails, a limit takes its tools away, or it answers in words alone.
 * Its parent, which may rest and look at nothing until mail comes, gets the completion message that the child should have sent.
 */
export function reportToParent(draft: Draft, cell: LedAgent, around: View): void {
  const { before } = draft;
  const parent = before.parent_id === null ? undefined : around.forest.agent(before.parent_id);
  if (!around.notices || parent === undefined || isTerminal(parent.state.type)) return;
  for (const turn of draft.ended_turns) {
    const completion = completionOf(turn, draft, cell, around);
    if (completion === null) continue;
    draft.send.push({
      id: around.newId(),
      root_id: before.root_id,
      to_id: parent.id,
      from_id: before.id,
      from_name: before.name,
      kind: 'letter',
      body: storable(JSON.stringify(completion)),
      sent_at: around.now,
    });
  }
}

function completionOf(
  { text, cause, reported }: EndedTurn,
  draft: Draft,
  cell: LedAgent,
  around: View,
): Completion | null {
  if (cause !== null) {
    const said = draft.said('spoken-to');
    const partial = said === '' ? {} : { partial: said };
    return { status: 'idle', success: false, error: cause, ...partial };
  }
  if (reported || !endsTask(cell, around)) return null;
  return { status: 'idle', success: true, summary: text, submitted: false };
}

/** The end of what it was forked to do with a prompt: nobody but those below it has spoken to it since, and none of them is still to be heard. */
function endsTask({ agent, prompt, inbox }: LedAgent, { forest, hasMail }: View): boolean {
  if (agent.origin !== 'fork' || agent.forked_from !== null) return false;
  const [, ...below] = forest.subtree(agent);
  const { text, first } = prompt.spokenTo;
  const senders = sendersIn(text);
  if (!first && (senders.length === 0 || !senders.every((id) => below.some((one) => one.id === id))))
    return false;
  return !below.some((one) => isWorking(one.state.type) || hasMail(one) || inbox.hasLetterFrom(one.id));
}
