import { randomBytes } from 'node:crypto';
import type { EventDocument } from '../../documents/shapes/event-documents.ts';

/** What is kept for clients that come back. */
const EVENTS_MAX = 4_096;
const BYTES_MAX = 8_000_000;

/** Whom an event concerns; clients that asked for less do not get it. */
export interface EventScope {
  readonly root_id: string | null;
  readonly agent_id: string | null;
}

/** An event as it is sent. Its bytes are shared by all clients. */
export interface Frame extends EventScope {
  /** Counts from 1 in this run of the server. */
  readonly n: number;
  readonly type: EventDocument['type'];
  readonly bytes: Buffer;
}

/** Numbers events, and keeps the newest: ids are `RUN-N`, where RUN is another one each time that a server starts. */
export class EventRing {
  readonly #run = randomBytes(4).toString('hex');
  #kept: Frame[] = [];
  #bytes = 0;
  /** Newest event that is no longer kept. */
  #lost = 0;
  n = 0;

  /** The frame of a new event. Live text is not kept: the message that follows says it all. */
  add(event: Omit<EventDocument, 'schema'>, scope: EventScope): Frame {
    this.n += 1;
    const frame = { n: this.n, type: event.type, ...scope, bytes: this.#bytesOf(event) };
    if (event.type === 'delta' || event.type === 'output') return frame;
    this.#kept.push(frame);
    this.#bytes += frame.bytes.length;
    while (this.#kept.length > EVENTS_MAX || this.#bytes > BYTES_MAX) {
      const gone = this.#kept.shift();
      if (gone === undefined) break;
      this.#bytes -= gone.bytes.length;
      this.#lost = gone.n;
    }
    return frame;
  }

  /** Tells a client to load anew; what happens later follows. It has the id of the newest event, and is not kept. */
  resync(): Frame {
    const bytes = this.#bytesOf({ type: 'resync' });
    return { n: this.n, type: 'resync', root_id: null, agent_id: null, bytes };
  }

  /** A number that no event has: whoever has seen no more than those before it has missed something. */
  skip(): number {
    this.n += 1;
    return this.n;
  }

  /** The number of an id of this run; null: of another run, or no id. */
  numberOf(id: string): number | null {
    const [run, text = '', ...more] = id.split('-');
    const n = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    return run === this.#run && more.length === 0 && n <= this.n ? n : null;
  }

  /** What came after an event; null: part of it is no longer kept. */
  after(n: number): readonly Frame[] | null {
    return n < this.#lost ? null : this.#kept.filter((frame) => frame.n > n);
  }

  /** Nobody follows the ledger any more: what happens from here on is missing. */
  forget(): void {
    this.#kept = [];
    this.#bytes = 0;
    this.#lost = this.skip();
  }

  #bytesOf(event: Omit<EventDocument, 'schema'>): Buffer {
    const document = { schema: 'coppice/event/v1', ...event };
    return Buffer.from(
      `id: ${this.#run}-${this.n}\nevent: ${event.type}\ndata: ${JSON.stringify(document)}\n\n`,
    );
  }
}
