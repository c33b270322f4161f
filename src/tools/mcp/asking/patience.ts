import { SdkError, SdkErrorCode } from '@modelcontextprotocol/client';

/** How long a call may go on without a result or progress. The time stands still while a person is asked. */
export class Patience {
  /** Aborts when it has run out, or the caller's own signal does. */
  readonly signal: AbortSignal;
  readonly #out = new AbortController();
  readonly #limit_ms: number;
  #timer: NodeJS.Timeout | undefined;
  #asking = 0;

  constructor(limit_ms: number, signal: AbortSignal) {
    this.#limit_ms = limit_ms;
    this.signal = AbortSignal.any([signal, this.#out.signal]);
    this.progressed();
  }

  /** The time begins anew. */
  progressed(): void {
    clearTimeout(this.#timer);
    if (this.#asking > 0) return;
    const late = new SdkError(SdkErrorCode.RequestTimeout, 'neither a result nor progress');
    this.#timer = setTimeout(() => this.#out.abort(late), this.#limit_ms);
  }

  async whileAsking<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    this.#asking += 1;
    clearTimeout(this.#timer);
    try {
      return await ask();
    } finally {
      this.#asking -= 1;
      if (!this.signal.aborted) this.progressed();
    }
  }

  end(): void {
    this.#asking += 1;
    clearTimeout(this.#timer);
  }
}
