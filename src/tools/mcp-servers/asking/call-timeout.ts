import { SdkError, SdkErrorCode } from '@modelcontextprotocol/client';

/** Default of `timeoutSeconds` of a server. */
export const CALL_SECONDS = 120;

/** The maximum time that a call may take without a result or progress. The clock stops while a person is asked. */
export class CallTimeout {
  /** Aborts when the time has run out, or when the caller's signal does. */
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

  /** Restarts the clock, unless a person is being asked. */
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
