import { orElse } from '../../records/coppice-error.ts';
import type { Frame } from './event-ring.ts';

/** Maximum that a client may leave unread before its queue is dropped. */
const EVENTS_MAX = 2_000;
const BYTES_MAX = 4_000_000;
const CHUNK_BYTES = 65_536;
/** Sent first, so that browsers reconnect after one second. */
const GREETING = Buffer.from('retry: 1000\n\n');
const HEARTBEAT = Buffer.from(':\n\n');

/** Filter of a client. With neither tree nor agent: everything except conversations. */
export interface Watch {
  /** Only events of this tree. */
  readonly root_id: string | null;
  /** Only events of this agent, with its live text; with `root_id`, in addition to those of the tree. */
  readonly agent_id: string | null;
  /** Only events for brief clients (`isBrief`): which trees have changed, instead of documents. */
  readonly brief: boolean;
  /** Tree whose conversations must be followed for this filter. */
  readonly follows: string | null;
}

export interface EventClientOptions {
  readonly watch: Watch;
  readonly resync: () => Frame;
  readonly onGone: () => void;
}

/**
 * One client of the event stream, with a bounded queue: a slow reader costs a fixed amount of memory and delays nobody. When the queue overflows, it is
 * dropped, and the client reads `resync` next.
 */
export class EventClient {
  readonly watch: Watch;
  readonly body: ReadableStream<Uint8Array>;
  readonly #options: EventClientOptions;
  #queue: Uint8Array[] = [GREETING];
  #bytes = GREETING.length;
  #dropped = false;
  /** Nothing is sent before. */
  begun = false;
  ended = false;
  /** Ends the pending read; set while the client has read everything. */
  #wake: (() => void) | null = null;

  constructor(options: EventClientOptions) {
    this.#options = options;
    this.watch = options.watch;
    this.body = new ReadableStream({
      pull: (controller) => this.#pull(controller),
      cancel: () => this.#gone(),
    });
  }

  wants({ type, root_id, agent_id }: Frame): boolean {
    const { watch } = this;
    if (watch.brief) return isBrief(type);
    if (type === 'changed') return false;
    if (type === 'delta' || type === 'output') return agent_id === watch.agent_id;
    if (type === 'removed') return true;
    if (watch.root_id === null && watch.agent_id === null) return type !== 'message' && type !== 'mail';
    return (
      (root_id !== null && root_id === watch.root_id) || (agent_id !== null && agent_id === watch.agent_id)
    );
  }

  offer(frame: Frame): void {
    if (this.wants(frame)) this.send(frame);
  }

  /** Sends the frame regardless of the filter. */
  send({ bytes }: Frame): void {
    if (!this.begun || this.#dropped || this.ended) return;
    const full = this.#queue.length >= EVENTS_MAX || this.#bytes + bytes.length > BYTES_MAX;
    if (full && this.#queue.length > 0) {
      this.#queue = [];
      this.#bytes = 0;
      this.#dropped = true;
      return;
    }
    this.#put(bytes);
  }

  /** Keeps a silent connection open. */
  beat(): void {
    if (this.#wake !== null) this.#put(HEARTBEAT);
  }

  end(): void {
    this.#gone();
    this.#wake?.();
  }

  #put(bytes: Uint8Array): void {
    this.#queue.push(bytes);
    this.#bytes += bytes.length;
    this.#wake?.();
  }

  #gone(): void {
    if (this.ended) return;
    this.ended = true;
    this.#queue = [];
    this.#options.onGone();
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    if (this.#queue.length === 0 && !this.#dropped && !this.ended)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    this.#wake = null;
    // The client may have closed it.
    if (this.ended) return orElse(() => controller.close(), undefined);
    if (this.#dropped) {
      this.#dropped = false;
      controller.enqueue(this.#options.resync().bytes);
      return;
    }
    const chunk: Uint8Array[] = [];
    let length = 0;
    while (this.#queue.length > 0 && length < CHUNK_BYTES) {
      const bytes = this.#queue.shift() as Uint8Array;
      chunk.push(bytes);
      length += bytes.length;
    }
    this.#bytes -= length;
    controller.enqueue(chunk.length === 1 ? (chunk[0] as Uint8Array) : Buffer.concat(chunk, length));
  }
}

/** Whether brief clients get events of this type. */
export function isBrief(type: Frame['type']): boolean {
  return type === 'changed' || type === 'removed' || type === 'workers';
}
