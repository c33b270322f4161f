import type { Guard } from './guard.ts';

/** The source with the guard taken out. Throws when the guard is not there exactly once: then the list tells of a program that is no more. */
export function withoutGuard(source: string, { name, file, guard, without }: Guard): string {
  const pieces = source.split(guard);
  if (pieces.length === 1)
    throw new Error(
      `guard not found: ${name}: ${file} does not hold its piece of source any more. If the guard has moved, follow it in scripts/sabotage; if it is gone, that is the bug`,
    );
  if (pieces.length > 2)
    throw new Error(
      `guard not clear: ${name}: its piece of source stands in ${file} ${pieces.length - 1} times; name more of it in scripts/sabotage`,
    );
  return pieces.join(without);
}
