import { type Agent, isScripted, type Tree } from '../../records/agent/agent.ts';
import { amountsOf, type BudgetTerms, leftFor, ownBudget } from '../../records/agent/budget.ts';
import { isTerminal } from '../../records/agent/state.ts';
import { isLetter } from '../../records/conversation/mail.ts';
import { isAtRest } from '../../records/conversation/wait.ts';
import { type Need, type NeedAnswer, needKey, type ToolsetView } from '../toolsets/toolset.ts';
import type { Draft } from './draft.ts';
import { waitView } from './waits.ts';

/** What a toolset may read in the middle of a step, for calls of the message at `message_seq`. */
export function toolsetView(draft: Draft, message_seq: number): ToolsetView {
  const { led, view, state, config, parts } = draft;
  const { relatives } = view;
  const self: Agent = { ...led.agent, state, config };
  const tree = relatives.tree(self.root_id) as Tree;
  const waits = waitView(draft);
  const made = parts.create.length;
  return {
    now: view.now,
    newId: (of) => draft.newId(of),
    self,
    tree: { ...tree, live: tree.live + made, total: tree.total + made },
    living_children: relatives.livingChildren(self.id) + made,
    resting(among) {
      const all = among === 'children' ? relatives.children(self.id) : relatives.members(self.root_id);
      const runs = [...all, ...parts.create.map(({ agent }) => agent)].filter(
        ({ origin, state, config }) => origin === 'session' && !isTerminal(state.type) && !isScripted(config),
      );
      // Of a tree's background runs no more than these work at once; the others are queued.
      const queued = Math.max(0, runs.length - view.terms.subagents.max_concurrent);
      const rests = (agent: Agent) =>
        isAtRest(agent, waits) || (isScripted(agent.config) && !isTerminal(agent.state.type));
      return queued + all.filter(rests).length;
    },
    scripted: () => relatives.members(self.root_id).filter(({ config }) => isScripted(config)).length,
    resolve: (text) => relatives.resolve(text, self.root_id),
    lineage: (agent) => relatives.lineage(agent),
    children: ({ id }) => relatives.children(id),
    subtree: (agent) => relatives.subtree(agent),
    message_seq,
    worker: view.worker,
    terms: view.terms,
    sent: view.sent,
    left: () => leftFor(self.config, tree, (id) => relatives.budget(id), goneWith(draft)),
    letters: waits.inbox.filter(isLetter),
    answer: (need) => led.answers.get(needKey(need)) ?? unanswered(need),
  };
}

/** The amounts that this step's requests have used and that its earlier calls have given to new agents. */
function goneWith({ parts: { create, requests } }: Draft): readonly BudgetTerms[] {
  const given = create.flatMap(({ agent: { id, config } }) => ownBudget(id, config) ?? []);
  return [...given, ...requests.map(({ usage }) => amountsOf(usage))];
}

/** Worktrees are made after everything else is decided; until then a placeholder stands for them. */
function unanswered(need: Need): NeedAnswer {
  return need.type === 'worktree'
    ? { ok: true, text: '', worktree: { path: '', branch: '', base: '' } }
    : { ok: false, error: 'it could not be looked up' };
}
