import type { ResultContent } from '../../records/conversation/message.ts';
import { keptIn } from '../../records/kept-in.ts';
import type { ModelRequest } from '../model.ts';

/** The view that rules and templates have of a conversation: only the agent's own part, after its fork point. */
export interface ScriptedConversation {
  readonly agent: ModelRequest['agent'];
  readonly step: number;
  /** The newest user message. */
  readonly user: string;
  /** The newest result that came after it, if any. */
  readonly last: ResultContent | null;
  /** Outputs of the results of the agent's own calls, in order, by tool. */
  readonly results: ReadonlyMap<string, readonly string[]>;
}

/** `onAnswer` gets the conversation as it was before each answer of the agent, oldest first. */
export function conversationOf(
  request: Pick<ModelRequest, 'agent' | 'messages' | 'shared_prefix'>,
  onAnswer: (before: ScriptedConversation) => void = () => undefined,
): ScriptedConversation {
  const { agent, messages, shared_prefix } = request;
  const results = new Map<string, string[]>();
  let seen: ScriptedConversation = { agent, step: 0, user: '', last: null, results };
  for (const message of messages.slice(shared_prefix)) {
    if (message.role === 'assistant') {
      onAnswer(seen);
      seen = { ...seen, step: seen.step + 1 };
    } else if (message.role === 'user') seen = { ...seen, user: message.text, last: null };
    else {
      for (const { name, output } of message.results) keptIn(results, name, () => []).push(output);
      seen = { ...seen, last: message.results.at(-1) ?? seen.last };
    }
  }
  return seen;
}
