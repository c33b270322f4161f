import type { Readable, Writable } from 'node:stream';
import { isJSONRPCRequest, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/server';
import { FrameGuard } from '../processes/output/frame-guard.ts';
import { isJsonObject } from '../records/text/json-text.ts';
import { errorFrame, INVALID_REQUEST, idOf, readFrame, withId } from './frame-text.ts';

/** Maximum bytes of unread answers; beyond it, the client is taken for gone or hostile, and the connection is closed. */
const UNREAD_BYTES = 64 * 1024 * 1024;

/**
 * Reads a client's messages from standard input, one per line, and writes the answers. An invalid message is answered as the specification says: with the id of
 * the request if it can be read, without one otherwise.
 */
export class StdioLines implements Transport {
  onmessage?: (message: JSONRPCMessage) => void;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  /** Resolves when either end has closed. Never rejects. */
  readonly closed: Promise<void>;
  readonly #end: () => void;
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #guard = new FrameGuard();
  #parts: Uint8Array[] = [];
  #is_closed = false;

  constructor(input: Readable, output: Writable) {
    this.#input = input;
    this.#output = output;
    const { promise, resolve } = Promise.withResolvers<void>();
    [this.closed, this.#end] = [promise, resolve];
  }

  async start(): Promise<void> {
    const close = () => void this.close();
    this.#input
      .on('data', (chunk: Buffer) => this.#take(chunk))
      .once('end', close)
      .once('close', close)
      .once('error', close);
    this.#output.once('error', close);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.#write(message);
  }

  async close(): Promise<void> {
    if (this.#is_closed) return;
    this.#is_closed = true;
    this.#input.pause();
    this.onclose?.();
    this.#end();
  }

  #take(chunk: Buffer): void {
    for (const piece of this.#guard.take(chunk)) {
      let from = 0;
      for (let end = piece.indexOf(LINE_BREAK); end !== -1; end = piece.indexOf(LINE_BREAK, from)) {
        this.#parts.push(piece.subarray(from, end));
        const line = Buffer.concat(this.#parts).toString('utf8').trim();
        this.#parts = [];
        from = end + 1;
        if (line !== '' && !this.#is_closed) this.#read(line);
      }
      if (from < piece.length) this.#parts.push(Buffer.from(piece.subarray(from)));
    }
  }

  #read(line: string): void {
    const frame = readFrame(line);
    if (!frame.ok) return this.#write(errorFrame(frame));
    // Each message of a batch is answered on a line of its own.
    const batch = Array.isArray(frame.value) && frame.value.length > 0 ? frame.value : [frame.value];
    for (const value of batch) {
      const fault = faultOf(value);
      if (fault === null) this.onmessage?.(value as JSONRPCMessage);
      else this.#write(errorFrame({ code: INVALID_REQUEST, message: fault, ...withId(value) }));
    }
  }

  #write(message: object): void {
    if (this.#is_closed || this.#output.destroyed) return;
    this.#output.write(`${JSON.stringify(message)}\n`);
    if (this.#output.writableLength > UNREAD_BYTES) void this.close();
  }
}

const LINE_BREAK = 0x0a;

/** Returns why a value is not a message; null if it is one. */
function faultOf(value: unknown): string | null {
  if (!isJsonObject(value)) return 'a message is a JSON object, or a batch of them';
  const { jsonrpc, method, id, params } = value;
  if (jsonrpc !== '2.0') return '"jsonrpc" must be "2.0"';
  if ('id' in value && idOf(value) === undefined) return '"id" must be a string or a whole number';
  if (method === undefined)
    return id !== undefined && ('result' in value || 'error' in value) ? null : '"method" is missing';
  if (typeof method !== 'string') return '"method" must be a string';
  if (params !== undefined && !isJsonObject(params)) return '"params" must be an object';
  // The library drops what it cannot read, and its sender would wait.
  return id === undefined || isJSONRPCRequest(value) ? null : '"_meta" has a field of another form';
}
