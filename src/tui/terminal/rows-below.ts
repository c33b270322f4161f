/** Query for the cursor's position in the form with `?`, whose answer is unlike any key: modified F3 keys are sent as `CSI 1 ; 2 R`. */
const CURSOR_QUERY = '\x1b[?6n';

/**
 * Counts the empty rows of the screen below the block. Only the terminal knows how many there were at first: it is asked, and nothing
 * waits for its answer. Until it arrives, only rows that the block itself has given up are counted.
 */
export class RowsBelow {
  #least = 0;
  /** Empty rows at the time of the query, according to its answer; null until it arrives. */
  #told: number | null = null;
  /** Rows that were taken since the query. */
  #taken = 0;
  #unanswered = 0;
  /** The argument `free` of the last query; null: its answer would be stale. */
  #expected: number | null = null;

  get rows(): number {
    return Math.max(this.#least, (this.#told ?? 0) - this.#taken);
  }

  /** Records that the block and the lines printed above it take more rows, or, if negative, fewer. */
  take(rows: number): void {
    this.#taken += rows;
    this.#least = Math.max(0, this.#least - rows);
  }

  /** Forgets all counts: the place of the block is unknown, and answers to earlier queries are stale. */
  forget(): void {
    this.#least = 0;
    this.#told = null;
    this.#expected = null;
  }

  /** Returns the query for the terminal. `free`: rows of the screen minus those of the block that are at the cursor or below it. */
  ask(free: number): string {
    this.#least = this.rows;
    this.#told = null;
    this.#taken = 0;
    this.#unanswered += 1;
    this.#expected = free;
    return CURSOR_QUERY;
  }

  /** Takes an answer: the row of the screen, from 0, in which the cursor was. Of several queries, only the last answer counts. */
  answered(row: number): void {
    this.#unanswered = Math.max(0, this.#unanswered - 1);
    if (this.#unanswered === 0 && this.#expected !== null) this.#told = this.#expected - row;
  }
}
