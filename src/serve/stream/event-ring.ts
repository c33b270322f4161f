import { randomBytes } from 'node:crypto';
import type { EventDocument } from '../../documents/shapes/event-documents.ts';

/** Maximum events and bytes that are kept for clients that reconnect. */
const EVENTS_MAX = 4_096;
const BYTES_MAX = 8_000_000;

/** Tree and agent that an event concerns; clients are filtered by them. */
export interface EventScope {
  readonly root_id: string | null;
  readonly agent_id: string | null;
}

/** An event as it is sent. Its bytes are shared by all clients. */
export interface Frame extends EventScope {
  /** Event number, from 1 in each run of the server. */
  readonly n: number;
  readonly type: EventDocument['type'];
  readonly bytes: Buffer;
}

/** Numbers events and keeps the newest. Ids are `RUN-N`, where RUN is random for each start of a server. */
export class EventRing {
  readonly #run = randomBytes(4).toString('hex');
  #kept: Frame[] = [];
  #bytes = 0;
  /** Newest event that is no longer kept. */
  #lost = 0;
  n = 0;

  /** Makes the frame of a new event. Live text is not kept: the message that follows contains all of it. */
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

  /** Frame that tells a client to reload; later events follow. Has the id of the newest event and is not kept. */
  resync(): Frame {
    const bytes = this.#bytesOf({ type: 'resync' });
    return { n: this.n, type: 'resync', root_id: null, agent_id: null, bytes };
  }

  /** Uses up a number for no event: a client that has seen only lower numbers has missed something. */
  skip(): number {
    this.n += 1;
    return this.n;
  }

  /** Event number of an id; null if the id is malformed or belongs to another run. */
  numberOf(id: string): number | null {
    const [run, text = '', ...more] = id.split('-');
    const n = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    return run === this.#run && more.length === 0 && n <= this.n ? n : null;
  }

  /** Returns the kept events after `n`; null if some of them are no longer kept. */
  after(n: number): readonly Frame[] | null {
    return n < this.#lost ? null : this.#kept.filter((frame) => frame.n > n);
  }

  /** Drops everything when the ledger is no longer followed: later events will be missing. */
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
