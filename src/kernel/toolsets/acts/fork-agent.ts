import type { Agent } from '../../../records/agent/agent.ts';
import { framedName } from '../../../records/agent/agent-name.ts';
import type { Decision, ToolsetView } from '../toolset.ts';
import { toolsetClash } from '../toolset.ts';
import { refuse } from './agent-reference.ts';
import { childConfig } from './child-config.ts';
import { overBudget } from './creation-limits.ts';
import { type ChildPlan, newChild } from './new-child.ts';

export interface ForkPlan {
  readonly id: string;
  readonly name: string;
  /** Name of a profile; null: like its parent. */
  readonly profile: string | null;
  /** Inherits its parent's conversation. */
  readonly inherits: boolean;
  /** It rests until its first mail. */
  readonly rests?: boolean;
  /** Its first message. */
  readonly text: string;
  readonly output: string;
}

/** Creates a child that rests when its turn ends and can be given more work. */
export function forkAgent(view: ToolsetView, plan: ForkPlan): Decision {
  const profile = plan.profile === null ? null : (view.terms.profiles.get(plan.profile) ?? null);
  if (plan.profile !== null && profile === null) {
    const known = [...view.terms.profiles.keys()].join(', ');
    return refuse('NO_PROFILE', `no profile "${plan.profile}". Profiles: ${known || 'none'}.`);
  }
  const clash = toolsetClash(profile?.toolsets ?? []);
  if (clash !== null) return refuse('NOT_AVAILABLE', `profile "${plan.profile}": ${clash}`);
  const model = profile?.model ?? null;
  if (model !== null && model !== view.self.config.model) {
    const answer = view.answer({ type: 'model', name: model });
    if (!answer.ok) return refuse('NOT_AVAILABLE', `profile "${plan.profile}": ${answer.error}`);
  }
  const reached = overBudget(view);
  if (reached !== null) return refuse('LIMIT_REACHED', reached);
  const child: ChildPlan = {
    id: plan.id,
    origin: 'fork',
    name: plan.name,
    session_key: `agent:${profile?.name ?? 'main'}:fork:${plan.id}`,
    config: childConfig(view.self.config, { profile }),
    inherits: plan.inherits,
    first: { origin: 'identity', text: plan.text },
    ...(plan.rests === true ? { rests: true } : {}),
  };
  return {
    type: 'settle',
    output: plan.output,
    consequences: [{ type: 'create-agents', agents: [newChild(view, child)] }],
  };
}

/** What must be looked up before a fork with this profile. */
export function forkNeeds(profile: string | null, self: Agent, terms: ToolsetView['terms']) {
  const model = profile === null ? null : (terms.profiles.get(profile)?.model ?? null);
  return model === null || model === self.config.model ? [] : [{ type: 'model' as const, name: model }];
}

/** The first message of a fork: who it is, who its parent is, and its task; without a prompt it waits for one. */
export function forkIdentity(id: string, name: string, parent: Agent, prompt: string | null): string {
  const work =
    prompt === null ? ['', 'Wait: your task comes with the next message.'] : ['', 'Your task:', prompt];
  return [
    `You are now "${framedName(name)}" (agent ${id}), a fork of "${framedName(parent.name)}" (agent ${parent.id}), which goes on without you.`,
    'The conversation above is your memory of it; what it does from here on you do not see.',
    `When your task is done, report to it: send(to: "${parent.id}", message: …). Then stop; it may send you more work.`,
    ...work,
  ].join('\n');
}
