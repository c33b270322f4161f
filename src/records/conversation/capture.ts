import type { CaptureContent } from './message.ts';

/** The lines of an open capture after one more of its rows; null: none is open (seed 1, Capture Mode). */
export function afterCapture(
  open: readonly string[] | null,
  { text, mark }: CaptureContent,
): readonly string[] | null {
  if (mark === 'begun') return open ?? [];
  if (mark === 'ended') return null;
  return open === null ? null : [...open, ...text.split('\n')];
}
