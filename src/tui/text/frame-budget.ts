/** How long one frame may render text; the rest comes with the next frame. */
const DRAW_MS = 10;
/** Rendered in any case: about a screenful. */
const LINES_LEAST = 100;
/** Minimum that a batch counts, even if it renders to nothing. */
const BATCH_LINES = 8;

/** Charges a batch of so many lines to the frame; true: the budget is used up. */
export type FrameBudget = (lines: number) => boolean;

export function frameBudget(now: () => number = () => performance.now()): FrameBudget {
  const end = now() + DRAW_MS;
  let drawn = 0;
  return (lines) => {
    drawn += Math.max(BATCH_LINES, lines);
    return drawn >= LINES_LEAST && now() >= end;
  };
}
