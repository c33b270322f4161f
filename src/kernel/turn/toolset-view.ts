import type { Agent, Tree } from '../../core/agent.ts';
import { isAtRest } from '../../core/wait.ts';
import { type Need, type NeedAnswer, needKey } from '../../toolsets/need.ts';
import type { ToolsetView } from '../../toolsets/toolset.ts';
import type { Draft } from './draft.ts';
import type { LedAgent } from './led-agent.ts';
import type { View } from './view.ts';
import { isLetter, waitView } from './waits.ts';

/** What a toolset may know, in the middle of a fold. */
export function viewOf(draft: Draft, cell: LedAgent, message_seq: number, around: View): ToolsetView {
  const { forest } = around;
  const self: Agent = { ...draft.before, state: draft.state };
  const tree = forest.tree(self.root_id) as Tree;
  const created = draft.create.length;
  const waits = waitView(draft, cell, around);
  return {
    now: around.now,
    newId: around.newId,
    self,
    tree: { ...tree, live: tree.live + created, total: tree.total + created },
    living_children: forest.livingChildren(self.id) + created,
    resting(among) {
      const all = among === 'children' ? forest.children(self.id) : forest.members(self.root_id);
      return all.filter((agent) => isAtRest(agent, waits)).length;
    },
    resolve: (text) => forest.resolve(text, self.root_id),
    lineage: (agent) => forest.lineage(agent),
    subtree: (agent) => forest.subtree(agent),
    message_seq,
    worker: around.worker,
    terms: around.terms,
    letters: waits.inbox.filter(isLetter),
    answer: (need) => cell.answers.get(needKey(need)) ?? unanswered(need),
  };
}

/** Worktrees are made last, when all else is decided: a look before that sees one that is to come. */
function unanswered(need: Need): NeedAnswer {
  return need.type === 'worktree'
    ? { ok: true, text: '', worktree: { path: '', branch: '', base: '' } }
    : { ok: false, error: 'it could not be looked up' };
}
