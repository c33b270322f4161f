import type { SessionUpdate } from '@agentclientprotocol/sdk';

/** Maximum characters queued for an editor that does not read; beyond it, the connection is closed. */
const WAITING_MAX = 64 * 1024 * 1024;

interface Waiting {
  readonly sessionId: string;
  update: SessionUpdate;
  size: number;
}

/** Updates queued for the editor, in order. While it does not read, chunks of one text are merged, and newer output of a call replaces older output. */
export class UpdateQueue {
  readonly #write: (sessionId: string, update: SessionUpdate) => Promise<void>;
  readonly #onFull: () => void;
  readonly #waiting: Waiting[] = [];
  #size = 0;
  #pumping: Promise<void> | null = null;

  /** `write` resolves when more may be written. `onFull` is called when the queue overflows, which also empties it. */
  constructor(write: (sessionId: string, update: SessionUpdate) => Promise<void>, onFull: () => void) {
    this.#write = write;
    this.#onFull = onFull;
  }

  push(sessionId: string, update: SessionUpdate): void {
    const size = sizeOf(update);
    const last = this.#waiting.at(-1);
    const joined = last?.sessionId === sessionId ? joinedWith(last.update, update) : null;
    if (last !== undefined && joined !== null) {
      const whole = sizeOf(joined);
      this.#size += whole - last.size;
      [last.update, last.size] = [joined, whole];
    } else {
      this.#waiting.push({ sessionId, update, size });
      this.#size += size;
    }
    if (this.#size > WAITING_MAX) {
      this.#waiting.length = 0;
      this.#size = 0;
      return this.#onFull();
    }
    this.#pumping ??= this.#pump();
  }

  /** Resolves when everything pushed so far has been written. */
  async flushed(): Promise<void> {
    await this.#pumping;
  }

  async #pump(): Promise<void> {
    // Updates pushed in the same tick are merged before they are written.
    await Promise.resolve();
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      this.#size -= next.size;
      // The connection is gone; its own end is handled elsewhere.
      await this.#write(next.sessionId, next.update).catch(() => undefined);
    }
    // Reset here, not when this promise resolves: updates pushed in between would never be written.
    this.#pumping = null;
  }
}

function joinedWith(before: SessionUpdate, next: SessionUpdate): SessionUpdate | null {
  if (before.sessionUpdate === 'tool_call_update' && next.sessionUpdate === 'tool_call_update') {
    const replaces = before.toolCallId === next.toolCallId && Object.keys(before).every((key) => key in next);
    return replaces ? next : null;
  }
  if (before.sessionUpdate === 'plan' && next.sessionUpdate === 'plan') return next;
  if (
    (before.sessionUpdate !== 'agent_message_chunk' && before.sessionUpdate !== 'agent_thought_chunk') ||
    next.sessionUpdate !== before.sessionUpdate ||
    before.messageId !== next.messageId ||
    before.content.type !== 'text' ||
    next.content.type !== 'text'
  )
    return null;
  return { ...before, content: { type: 'text', text: before.content.text + next.content.text } };
}

function sizeOf(update: SessionUpdate): number {
  if ('content' in update && update.content !== null && update.content !== undefined) {
    const { content } = update;
    if (!Array.isArray(content) && content.type === 'text') return content.text.length;
  }
  return JSON.stringify(update).length;
}
