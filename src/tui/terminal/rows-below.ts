/** Report of the cursor's position in the form with `?`, which no key can be mistaken for: modified F3 keys are sent as `CSI 1 ; 2 R`. */
const CURSOR_QUERY = '\x1b[?6n';

/**
 * Counts the empty rows of the screen below the block. Only the terminal knows how many there were at first: it is asked, and nothing
 * waits for its answer. Until then, or without one, those are counted that the block itself has given up.
 */
export class RowsBelow {
  #least = 0;
  /** What the answer told, as of the question; null: none came yet. */
  #told: number | null = null;
  /** Rows that were taken since the question. */
  #taken = 0;
  #unanswered = 0;
  /** Rows from the cursor's to the end of the screen that the block does not need; null: an answer would be out of date. */
  #expected: number | null = null;

  get rows(): number {
    return Math.max(this.#least, (this.#told ?? 0) - this.#taken);
  }

  /** The block and what was printed above it took more rows, or, below zero, fewer. */
  take(rows: number): void {
    this.#taken += rows;
    this.#least = Math.max(0, this.#least - rows);
  }

  /** The place of the block is unknown, and so are answers to what was asked before. */
  forget(): void {
    this.#least = 0;
    this.#told = null;
    this.#expected = null;
  }

  /** What asks the terminal. `free`: rows of the screen without those of the block that are at the cursor or below it. */
  ask(free: number): string {
    this.#least = this.rows;
    this.#told = null;
    this.#taken = 0;
    this.#unanswered += 1;
    this.#expected = free;
    return CURSOR_QUERY;
  }

  /** The cursor was in this row of the screen, from 0. Of several questions, the last answer counts. */
  answered(row: number): void {
    this.#unanswered = Math.max(0, this.#unanswered - 1);
    if (this.#unanswered === 0 && this.#expected !== null) this.#told = this.#expected - row;
  }
}
