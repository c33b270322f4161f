import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { PipedProgram } from '../../processes/sandbox/piped-program.ts';
import { MessageLines, Unbounded } from './message-lines.ts';

/** The standard streams of a running program as a transport of the protocol library. */
export class StdioTransport implements Transport {
  /** By these two names the library tells standard streams from HTTP. */
  readonly stderr = null;
  readonly pid = null;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  readonly #program: PipedProgram;
  readonly #lines = new MessageLines();
  #started = false;

  constructor(program: PipedProgram) {
    this.#program = program;
  }

  /** The beginning of what it wrote that was no message. */
  get noise(): string {
    return this.#lines.noise;
  }

  start(): Promise<void> {
    if (this.#started) throw new Error('the transport has been started');
    this.#started = true;
    this.#program.stdout.on('data', (chunk: Buffer) => this.#read(chunk));
    void this.#program.gone.then(() => this.onclose?.());
    return Promise.resolve();
  }

  #read(chunk: Buffer): void {
    try {
      for (const message of this.#lines.push(chunk)) this.#receive(message as JSONRPCMessage);
    } catch (error) {
      this.#program.stdout.removeAllListeners('data').resume();
      const why = error instanceof Unbounded ? error.message : `a fault in Coppice: ${String(error)}`;
      void this.#program.stop(why);
    }
  }

  /** What the library cannot use is not an end of the connection. */
  #receive(message: JSONRPCMessage): void {
    try {
      this.onmessage?.(message);
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
  }

  send(message: JSONRPCMessage): Promise<void> {
    const { stdin } = this.#program;
    if (!stdin.writable) return Promise.reject(new Error('the program has ended'));
    return new Promise((resolve, reject) => {
      stdin.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()));
    });
  }

  async close(): Promise<void> {
    await this.#program.stop('it was closed');
  }
}
