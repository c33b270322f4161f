/** Time budget of one frame for rendering text; the rest follows in the next frame. */
const DRAW_MS = 10;
/** Minimum number of lines per frame, whatever the time: about a screenful. */
const LINES_LEAST = 100;
/** Minimum number of lines that a batch counts as, even if it renders to nothing. */
const BATCH_LINES = 8;

/** Charges a batch of lines to the frame; returns true if the budget is used up. */
export type FrameBudget = (lines: number) => boolean;

export function frameBudget(now: () => number = () => performance.now()): FrameBudget {
  const end = now() + DRAW_MS;
  let drawn = 0;
  return (lines) => {
    drawn += Math.max(BATCH_LINES, lines);
    return drawn >= LINES_LEAST && now() >= end;
  };
}
