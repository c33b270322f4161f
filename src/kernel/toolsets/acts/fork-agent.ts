import type { Agent } from '../../../records/agent/agent.ts';
import type { Worktree } from '../../../records/agent/task-terms.ts';
import { type Decision, type Need, type ToolsetView, toolsetClash } from '../toolset.ts';
import { refuse, settle } from './agent-reference.ts';
import { childConfig } from './child-config.ts';
import { exceededCreationLimit } from './creation-limits.ts';
import { type ChildPlan, newChild } from './new-child.ts';
import { checkTask, modelOf, needsOf, type TaskOptions } from './task-options.ts';

/** Options in which a fork may differ from its parent; without any, its requests share the parent's cached prefix. */
export type ForkTerms = Pick<TaskOptions, 'profile' | 'model' | 'read_first' | 'worktree' | 'budget'>;

export interface ForkPlan {
  readonly id: string;
  readonly name: string;
  readonly terms: ForkTerms;
  /** Id of the call; names the worktree. */
  readonly key: string;
  /** Whether it inherits its parent's conversation. */
  readonly inherits: boolean;
  /** Whether it rests until its first mail. */
  readonly rests?: boolean;
  /** Its task; null if it has none besides its first message. */
  readonly prompt: string | null;
  /** Builds its first message around the prompt with what the terms add to it (files, worktree); null if there is neither. */
  readonly text: (prompt: string | null) => string;
  readonly output: (worktree: Worktree | null) => string;
}

/** Creates a child that rests when its turn ends and can be given more work. */
export function forkAgent(view: ToolsetView, plan: ForkPlan): Decision {
  const { terms, key, prompt } = plan;
  const model = modelOf(terms, view.terms.profiles);
  const checked = checkTask(prompt ?? '', terms, key, model, view, '', forkPlace);
  if (checked.type === 'refuse') return checked;
  const { profile, cwd, text, worktree, budget } = checked;
  const clash = toolsetClash(profile?.toolsets ?? []);
  if (clash !== null) return refuse('NOT_AVAILABLE', `profile "${terms.profile}": ${clash}`);
  const reached = exceededCreationLimit(view);
  if (reached !== null) return refuse('LIMIT_REACHED', reached);
  const task = prompt === null ? text.trim() || null : text;
  const first = plan.text(task);
  const fork = { name: plan.name, task: first.length - (task?.length ?? 0) };
  const child: ChildPlan = {
    id: plan.id,
    origin: 'fork',
    name: plan.name,
    session_key: `agent:${profile?.name ?? 'main'}:fork:${plan.id}`,
    config: childConfig(view.self.config, { profile, model, cwd, worktree, budget, id: plan.id }),
    inherits: plan.inherits,
    first: { origin: 'identity', text: first, facts: task === null ? {} : { fork } },
    ...(plan.rests === true ? { rests: true } : {}),
  };
  return settle(plan.output(worktree), { type: 'create-agents', agents: [newChild(view, child)] });
}

/** A new agent in the result of the call that created it. */
export function createdJson(agent_id: string, name: string, worktree: Worktree | null | undefined): object {
  const { branch, path } = worktree ?? {};
  return { agent_id, name, ...(branch === undefined ? {} : { worktree: { branch, path } }) };
}

/** What must be looked up before a fork with these terms. */
export function forkNeeds(
  terms: ForkTerms,
  key: string,
  self: Agent,
  { profiles }: ToolsetView['terms'],
): Need[] {
  return needsOf(terms, key, self, modelOf(terms, profiles));
}

/** Tells a fork about its worktree: a conversation that it inherits names files in its parent's folder. */
export function forkPlace({ path, branch }: Worktree): string {
  return `Your folder is now ${path}, a git worktree of your own (branch ${branch}) at the last commit: work on the files there, not in the folder used so far. What you change there reaches the others when your branch is merged.`;
}
