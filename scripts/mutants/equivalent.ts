/** Mutants that no test can kill, since they do not change behaviour. */
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
    file: 'src/kernel/ledger/post-mail.ts',
    line: 'if (waiters.length === 0) return;',
    before: 'if (waiters.length === 0) return;',
    after: ';',
    why: 'nobody is told and nobody is sought, as with no waiters',
  },
  {
    file: 'src/permissions/policy.ts',
    line: 'policies.set(config, policy);',
    before: 'policies.set(config, policy);',
    after: ';',
    why: 'the same policy is made again each time',
  },
  {
    file: 'src/permissions/path-containment.ts',
    line: 'const no_follow = constants.O_NOFOLLOW ?? 0;',
    before: '?? 0',
    after: '',
    why: 'only Windows lacks the flag',
  },
  {
    file: 'src/permissions/path-containment.ts',
    line: 'const no_block = constants.O_NONBLOCK ?? 0;',
    before: '?? 0',
    after: '',
    why: 'only Windows lacks the flag',
  },
  {
    file: 'src/runtime/performing/protected-places.ts',
    line: 'if (dirname(current) === current) return asked;',
    before: 'if (dirname(current) === current) return asked;',
    after: ';',
    why: 'the root of a file system is always there',
  },
];
