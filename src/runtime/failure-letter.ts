import { isTerminal } from '../core/state.ts';
import { storable } from '../core/text.ts';
import type { Draft } from './draft.ts';
import type { FoldSurroundings } from './fold-surroundings.ts';

/**
 * A child that reports by letters of its own (seed 2) cannot write one when its model fails, or a limit takes its tools away. Its parent, which may
 * rest and look at nothing until mail comes, gets the completion message that the child would have sent.
 */
export function tellOfFailure(draft: Draft, around: FoldSurroundings): void {
  const { before } = draft;
  const error = around.notices ? whyUnfinished(draft) : null;
  const parent = before.parent_id === null ? undefined : around.forest.agent(before.parent_id);
  if (error === null || parent === undefined || isTerminal(parent.state.type)) return;
  const said = draft.said('spoken-to');
  const partial = said === '' ? {} : { partial: said };
  draft.send.push({
    id: around.newId(),
    root_id: before.root_id,
    to_id: parent.id,
    from_id: before.id,
    from_name: before.name,
    kind: 'letter',
    body: storable(JSON.stringify({ status: 'idle', success: false, error, ...partial })),
    sent_at: around.now,
  });
}

/** Why the turn that ends with this step did not come to its end; null when it did, or goes on. */
function whyUnfinished({ before, state }: Draft): string | null {
  if (state.type === 'errored') return before.state.type === 'errored' ? null : state.failure.error;
  return state.type === 'idle' && before.state.type !== 'idle' ? (state.limit ?? null) : null;
}
