import type { Step } from '../../kernel/step.ts';
import { placed } from '../../kernel/turn/agent-after.ts';
import type { Agent } from '../../records/agent/agent.ts';
import type { PlacedMessage } from '../../records/conversation/message.ts';
import type { Prompt } from '../../records/conversation/prompt.ts';
import type { Cell } from './cell.ts';

export interface ForkPoints {
  readonly messages: readonly PlacedMessage[];
  /** By seq, the prompt at each place where the step forks. */
  readonly prompts: ReadonlyMap<number, ReturnType<Prompt['forked']>>;
}

/** Appends the messages of a step to the prompt, and keeps the prompt at each fork point, before later messages join. */
export function forkPoints(cell: Cell, before: Agent, step: Step): ForkPoints {
  const prompts = new Map<number, ReturnType<Prompt['forked']>>();
  const wanted = new Set(step.create.map((child) => child.agent.forked_from?.seq));
  if (wanted.size > 0 && before.last_seq > 0) {
    for (const seq of wanted)
      if (seq !== undefined && seq <= before.last_seq) prompts.set(seq, cell.prompt.forked());
  }
  const messages = placed(cell.agent.id, step.messages, before.last_seq, step.at);
  for (const message of messages) {
    cell.prompt.append(message);
    if (wanted.has(message.seq)) prompts.set(message.seq, cell.prompt.forked());
  }
  return { messages, prompts };
}
