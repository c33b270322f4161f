import type { ResultContent } from '../core/message.ts';
import type { ModelRequest } from './model.ts';

/** What rules and templates of the scripted model can see of a conversation: only the agent's own part, behind its fork point. */
export interface ScriptedConversation {
  readonly agent: ModelRequest['agent'];
  readonly step: number;
  /** The newest user message. */
  readonly user: string;
  /** The newest result that came after it, if any. */
  readonly last: ResultContent | null;
  /** Every result of its own calls, in order, by tool. */
  readonly results: ReadonlyMap<string, readonly string[]>;
}

export function conversationOf(request: ModelRequest): ScriptedConversation {
  let step = 0;
  let user = '';
  let last: ResultContent | null = null;
  const results = new Map<string, string[]>();
  for (const message of request.messages.slice(request.shared_prefix)) {
    if (message.role === 'assistant') step += 1;
    else if (message.role === 'user') {
      user = message.text;
      last = null;
    } else {
      for (const result of message.results) {
        const known = results.get(result.name);
        if (known === undefined) results.set(result.name, [result.output]);
        else known.push(result.output);
        last = result;
      }
    }
  }
  return { agent: request.agent, step, user, last, results };
}
