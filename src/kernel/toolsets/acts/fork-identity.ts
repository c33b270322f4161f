import type { Agent } from '../../../records/agent/agent.ts';
import { framedName } from '../../../records/agent/agent-name.ts';

/** What a fork learns of itself (DESIGN.md, History): who it is, who its parent is, what it shall do; without a prompt it waits. */
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
