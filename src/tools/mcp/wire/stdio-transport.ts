import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { PipedProgram } from '../../../processes/sandbox/piped-program.ts';
import { LimitExceeded } from './flood-watch.ts';
import type { LenientAnswers } from './lenient-answers.ts';
import { MessageLines } from './stdio-messages.ts';

/** The standard streams of a running program as a transport of the protocol library. */
export class StdioTransport implements Transport {
  /** The library recognizes a transport over standard streams by these two properties. */
  readonly stderr = null;
  readonly pid = null;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  readonly #program: PipedProgram;
  readonly #answers: LenientAnswers;
  readonly #lines = new MessageLines();
  #started = false;

  constructor(program: PipedProgram, answers: LenientAnswers) {
    this.#program = program;
    this.#answers = answers;
    answers.watch(this);
  }

  /** The beginning of the program's output that was not a message. */
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
      for (const value of this.#lines.push(chunk))
        for (const message of this.#answers.read(value)) this.#receive(message);
    } catch (error) {
      this.#program.stdout.removeAllListeners('data').resume();
      const why = error instanceof LimitExceeded ? error.message : `a fault in Coppice: ${String(error)}`;
      void this.#program.stop(why);
    }
  }

  /** A message that the library cannot use does not end the connection. */
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
