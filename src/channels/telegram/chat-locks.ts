/** Releases a lock; idempotent. */
export type Release = () => void;

/** A lock per chat, first in, first out: keeps the parts of a message together, and edits of a live message before the reply that replaces it. */
export class ChatLocks {
  readonly #waiting = new Map<string, (() => void)[]>();

  /** Waits for the lock; null when the signal aborted before the chat was free. */
  take(chat: string, signal: AbortSignal): Promise<Release | null> {
    if (signal.aborted) return Promise.resolve(null);
    const queue = this.#waiting.get(chat);
    if (queue === undefined) return Promise.resolve(this.#taken(chat));
    return new Promise((resolve) => {
      const go = () => {
        signal.removeEventListener('abort', abort);
        resolve(this.#release(chat));
      };
      const abort = () => {
        const index = queue.indexOf(go);
        if (index >= 0) queue.splice(index, 1);
        resolve(null);
      };
      signal.addEventListener('abort', abort, { once: true });
      queue.push(go);
    });
  }

  tryTake(chat: string): Release | null {
    return this.#waiting.has(chat) ? null : this.#taken(chat);
  }

  #taken(chat: string): Release {
    this.#waiting.set(chat, []);
    return this.#release(chat);
  }

  #release(chat: string): Release {
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      const next = this.#waiting.get(chat)?.shift();
      if (next === undefined) this.#waiting.delete(chat);
      else next();
    };
  }
}
