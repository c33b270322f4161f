/** Mutants that no test can kill, since the program does the same with them. */
export interface Equivalent {
  readonly file: string;
  /** Its line, as it is written there. */
  readonly line: string;
  readonly before: string;
  readonly after: string;
  readonly why: string;
}

const AHEAD = 'the answers are read in one look ahead; what is not among them is read when it is asked for';

export const EQUIVALENT: readonly Equivalent[] = [
  ...[
    "add(\n      'agent',\n      step.send.flatMap(({ to_id }) => (made.includes(to_id) ? [] : to_id)),\n    );",
    "add(\n      'mail',\n      step.consume.map(({ mail_id }) => mail_id),\n    );",
  ].map((before) => ({ file: 'src/kernel/ledger/admit.ts', line: 'add(', before, after: ';', why: AHEAD })),
  {
    file: 'src/kernel/ledger/admit.ts',
    line: "if (waits_for !== null || isTerminal(step.state.type)) add('edges', [agent_id, ...(waits_for ?? [])]);",
    before: 'waits_for !== null || isTerminal(step.state.type)',
    after: '!(waits_for !== null || isTerminal(step.state.type))',
    why: AHEAD,
  },
  {
    file: 'src/kernel/ledger/mailbox.ts',
    line: 'if (waiters.length === 0) return;',
    before: 'if (waiters.length === 0) return;',
    after: ';',
    why: 'nobody is told and nobody is sought, as with no waiters',
  },
];
