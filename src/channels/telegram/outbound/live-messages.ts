import type { ChatEvent } from '../../channel.ts';
import type { LiveTools } from './live-message.ts';
import { LiveMessage } from './live-message.ts';

/** The live messages of all chats, one per agent. */
export class LiveMessages {
  readonly #tools: LiveTools;
  readonly #all = new Map<string, LiveMessage>();

  constructor(tools: LiveTools) {
    this.#tools = tools;
  }

  handle(event: ChatEvent): void {
    this.of(event.chat, event.agent_id).handle(event);
  }

  of(chat: string, agent_id: string): LiveMessage {
    const key = `${chat}:${agent_id}`;
    let live = this.#all.get(key);
    if (live === undefined) {
      live = new LiveMessage(chat, agent_id, this.#tools);
      this.#all.set(key, live);
    }
    return live;
  }

  close(): void {
    for (const live of this.#all.values()) live.close();
  }
}
