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
  {
    file: 'src/store/sqlite/sqlite-database.ts',
    line: 'this.#prepared.set(sql, statement);',
    before: 'this.#prepared.set(sql, statement);',
    after: ';',
    why: 'the statement is prepared again each time',
  },
  {
    file: 'src/store/sqlite/row-writer.ts',
    line: 'for (let at = 0; at < a.length; at += 1) if (a[at] !== b[at]) return false;',
    before: '!==',
    after: '===',
    why: 'every change begins with its key, so the statement is prepared again each time',
  },
  {
    file: 'src/cron/schedule/next-instant.ts',
    line: 'if (before <= now) return at + now;',
    before: 'if (before <= now) return at + now;',
    after: ';',
    why: 'a shorter way: then the greater of the two below is the same',
  },
  {
    file: 'src/permissions/shell/analyse-command.ts',
    line: 'if (this.unread !== null) return false;',
    before: 'false',
    after: 'true',
    why: 'the text of a call is read first, so there is no command yet, and without one nothing is plain',
  },
  {
    file: 'src/permissions/shell/builtin.ts',
    line: 'if (letter === -1) continue;',
    before: 'if (letter === -1) continue;',
    after: ';',
    why: 'then no letter is asked about',
  },
  {
    file: 'src/permissions/shell/git-arguments.ts',
    line: 'if (words[at] === undefined || maySplit(words[at]!) || !plain_setting.test(words[at]!))',
    before: '||',
    after: '&&',
    why: 'no setting of git is called undefined',
  },
  {
    file: 'src/runtime/tool-catalog.ts',
    line: 'specs: specs.sort((a, b) => (a.name < b.name ? -1 : 1)),',
    before: '<',
    after: '<=',
    why: 'no two tools have the same name',
  },
  {
    file: 'src/store/remove-old.ts',
    line: 'for (let at = 0; at < page.trees.length; at += TREE_BATCH)',
    before: '<',
    after: '<=',
    why: 'a batch of no trees removes nothing',
  },
  {
    file: 'src/permissions/shell/program.ts',
    line: "const end = words.findIndex((word, place) => place > at && (word === ';' || word === '+'));",
    before: '>',
    after: '>=',
    why: 'there stands the option, which ends no command',
  },
  {
    file: 'src/tools/files/read-lines.ts',
    line: 'if (round % 64 === 0) await nextRound(); // let other work proceed',
    before: '===',
    after: '!==',
    why: 'other work proceeds more often',
  },
  {
    file: 'src/tools/files/read-lines.ts',
    line: 'if (this.line < this.#first || this.#kept >= line_bytes || part.length === 0) return;',
    before: 'if (this.line < this.#first || this.#kept >= line_bytes || part.length === 0) return;',
    after: ';',
    why: 'what is kept too much is cut or dropped at the end of the line',
  },
  {
    file: 'src/store/postgres/postgres-database.ts',
    line: 'if (rows.size + wiped.length + notices.length === 0) return null;',
    before: 'if (rows.size + wiped.length + notices.length === 0) return null;',
    after: ';',
    why: 'the database is asked to write nothing',
  },
  {
    file: 'src/processes/output-capture.ts',
    line: 'while (start > bytes.length - 4 && isContinuation(bytes[start])) start -= 1;',
    before: '>',
    after: '>=',
    why: 'no character has more than three bytes behind its first, so none that long is cut off',
  },
  {
    file: 'src/kernel/ledger/tables.ts',
    line: "channel_seats: { key: ['channel'], columns: { channel: 'text', worker: 'text' } },",
    before: "['channel']",
    after: '[]',
    why: 'decisions only wipe these rows, by their worker',
  },
  {
    file: 'src/processes/output-capture.ts',
    line: 'if (now_ms - this.#live_refilled_ms > 1000) {',
    before: '>',
    after: '>=',
    why: 'the clock tells fractions of microseconds: exactly a second never passes',
  },
  {
    file: 'src/store/sqlite/open-database.ts',
    line: `database.exec(\`PRAGMA cache_size = -\${CACHE_KIB}\`);`,
    before: `database.exec(\`PRAGMA cache_size = -\${CACHE_KIB}\`);`,
    after: ';',
    why: 'pages are read from the file more often',
  },
  {
    file: 'src/runtime/leading/quiescence.ts',
    line: "if (until === 'tree') return agent_index.working(root_id) > 0;",
    before: "if (until === 'tree') return agent_index.working(root_id) > 0;",
    after: ';',
    why: 'a shorter way: agents at work are found a step later, too',
  },
  {
    file: 'src/runtime/worktree/git-worktree.ts',
    line: "if (!error.includes('already exists')) break;",
    before: "if (!error.includes('already exists')) break;",
    after: ';',
    why: 'a shorter way: more tries come to the same error',
  },
  {
    file: 'src/records/conversation/prompt.ts',
    line: 'if (index < length) {',
    before: '<',
    after: '<=',
    why: 'then nothing is taken over from the shared beginning',
  },
  {
    file: 'src/cron/schedule/cron-expression.ts',
    line: 'if (read.size >= CACHED_MAX && oldest !== undefined) read.delete(oldest);',
    before: '>=',
    after: '>',
    why: 'one more expression is kept',
  },
];
