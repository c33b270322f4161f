import type { Agent } from '../agent/agent.ts';
import { framedName } from '../agent/agent-name.ts';

/** The first message of a fork: who it is, who its parent is, and its task; without a prompt it waits for one. */
export function forkMessage(id: string, name: string, parent: Agent, prompt: string | null): string {
  const work =
    prompt === null ? ['', 'Wait: your task comes with the next message.'] : ['', 'Your task:', prompt];
  return [
    `You are now "${framedName(name)}" (agent ${id}), a fork of "${framedName(parent.name)}" (agent ${parent.id}), which goes on without you.`,
    'The conversation above is your memory.',
    'When your task is done, end your turn: your last words are your report to it. send is for questions. It may send you more work.',
    ...work,
  ].join('\n');
}
