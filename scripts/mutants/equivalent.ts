/** Mutants that no test can kill, since the program does the same with them. */
export interface Equivalent {
  readonly file: string;
  /** Its line, as it is written there. */
  readonly line: string;
  readonly before: string;
  readonly after: string;
  readonly why: string;
}

export const EQUIVALENT: readonly Equivalent[] = [
  {
    file: 'src/kernel/ledger/mailbox.ts',
    line: 'if (waiters.length === 0) return;',
    before: 'if (waiters.length === 0) return;',
    after: ';',
    why: 'nobody is told and nobody is sought, as with no waiters',
  },
];
