import type { EventOf } from '../../core/event.ts';
import { Prompt } from '../../core/prompt.ts';
import type { LedAgent } from './led-agent.ts';

/** A person says to try again; `without_last`: without the message that was refused, or else the newest one that the model saw. */
export function retryEvent(at: number, { agent, prompt }: LedAgent, without_last: boolean): EventOf<'retry'> {
  const messages = prompt.messages();
  if (!without_last) {
    const half = messages.at(-1)?.role === 'assistant' ? { half: true as const } : {};
    return { type: 'retry', at, ...half, ...(agent.reply === null ? {} : { said: agent.reply }) };
  }
  // The row that says so changes the prompt itself, once it is in the ledger.
  const rest = new Prompt({ length: messages.length, messages: () => messages });
  const { state } = agent;
  const behind = state.type === 'errored' ? state.failure.behind_refused : undefined;
  const what = rest.leaveOut(behind);
  if (what === null) return { type: 'retry', at };
  const role = rest.messages().at(-1)?.role;
  return {
    type: 'retry',
    at,
    left_out: {
      what,
      asks: role === 'user' || role === 'results',
      ...(behind === undefined ? {} : { behind }),
    },
  };
}
