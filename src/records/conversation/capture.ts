import type { CaptureContent } from './message.ts';

/** The lines of the open capture after one more of its rows; null if none is open. */
export function afterCapture(
  open: readonly string[] | null,
  { text, mark }: CaptureContent,
): readonly string[] | null {
  if (mark === 'begun') return open ?? [];
  if (mark === 'ended') return null;
  return open === null ? null : [...open, ...text.split('\n')];
}
