/** What the reporter tells of one test, one JSON line each. */
export interface TestEvent {
  readonly name: string;
  /** Absolute. */
  readonly file: string;
  readonly outcome: 'passed' | 'skipped' | 'failed';
  /**
   * Why a test failed. `verdict`: it found the program wrong (an assertion, a condition that never came, its time limit). `crash`: anything
   * else, which a mutation that does not even run would bring about too.
   */
  readonly failure: 'verdict' | 'crash' | null;
  /** Of the error, one line. */
  readonly error: string;
}
