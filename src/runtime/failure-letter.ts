import { isTerminal } from '../core/state.ts';
import { storable } from '../core/text.ts';
import type { Draft } from './draft.ts';
import type { FoldSurroundings } from './fold-surroundings.ts';

/**
 * A child that reports by letters of its own (seed 2) cannot write one when its model fails. Its parent, which may rest and look at
 * nothing until mail comes, gets the completion message that the child would have sent.
 */
export function tellOfFailure(draft: Draft, around: FoldSurroundings): void {
  const { before, state } = draft;
  if (state.type !== 'errored' || before.state.type === 'errored' || !around.notices) return;
  const parent = before.parent_id === null ? undefined : around.forest.agent(before.parent_id);
  if (parent === undefined || isTerminal(parent.state.type)) return;
  const partial = draft.reply === null || draft.reply === '' ? {} : { partial: draft.reply };
  draft.send.push({
    id: around.newId(),
    root_id: before.root_id,
    to_id: parent.id,
    from_id: before.id,
    from_name: before.name,
    kind: 'letter',
    body: storable(
      JSON.stringify({ status: 'idle', success: false, error: state.failure.error, ...partial }),
    ),
    sent_at: around.now,
  });
}
