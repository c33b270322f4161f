/** For so long one frame draws foreign text, and ends the batch that it is at; what is left comes with the next frame, a moment later. */
const DRAW_MS = 10;
/** So many lines it draws all the same: about a screenful comes at once. */
const LINES_LEAST = 100;
/** A batch counts as so many, even if there is nothing to see of it. */
const BATCH_LINES = 8;

/** Whether a frame has drawn enough, with one more batch of so many lines. */
export type FrameBudget = (lines: number) => boolean;

export function frameBudget(now: () => number = () => performance.now()): FrameBudget {
  const end = now() + DRAW_MS;
  let drawn = 0;
  return (lines) => {
    drawn += Math.max(BATCH_LINES, lines);
    return drawn >= LINES_LEAST && now() >= end;
  };
}
