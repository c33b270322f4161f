import { z } from 'zod';
import type { Tool } from '../../src/records/tool.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import type { Faults } from './faults.ts';
import type { Random } from './random.ts';
import type { Actor, VirtualTime } from './virtual-time.ts';

/** Number of times that each mark was left, by key. */
export type Marks = Map<string, number>;

export interface SimToolsSurroundings {
  readonly actor: Actor;
  readonly time: VirtualTime;
  readonly faults: Faults;
  readonly random: Random;
  readonly marks: Marks;
}

/** Tools of one simulated process: two that leave an irreversible mark, one that only reads. */
export function simTools(around: SimToolsSurroundings): Tool[] {
  const { marks } = around;
  const mark = (name: string, side_by_side: boolean) =>
    defineTool({
      name,
      description: 'Leaves a mark in the world.',
      input: z.strictObject({ key: z.string() }),
      side_by_side,
      async run({ key }, { signal }) {
        if (!(await passes(around, signal)))
          return { status: 'cancelled', output: 'stopped before the mark' };
        marks.set(key, (marks.get(key) ?? 0) + 1);
        // The mark is left, but not yet reported.
        if (!(await passes(around, signal))) return { status: 'cancelled', output: 'stopped after the mark' };
        return `marked ${key}`;
      },
    }) as Tool;
  const look = defineTool({
    name: 'look',
    description: 'Looks at the world.',
    input: z.strictObject({}),
    side_by_side: true,
    idempotent: true,
    run: async (_, { signal }) =>
      (await passes(around, signal)) ? 'seen' : { status: 'cancelled', output: 'stopped' },
  }) as Tool;
  return [mark('count', true), mark('guarded', false), look];
}

/** Lets time pass; returns false if the call was stopped meanwhile. */
async function passes(
  { time, actor, faults, random }: SimToolsSurroundings,
  signal: AbortSignal,
): Promise<boolean> {
  if (faults.strikes('tool-error', actor.name)) throw new Error('simulated: the tool failed');
  const hangs = faults.strikes('tool-hang', actor.name);
  await new Promise<void>((resolve) => {
    const stop = hangs ? () => {} : time.after(random.between(5, 4_000), actor, resolve);
    signal.addEventListener('abort', () => {
      stop();
      resolve();
    });
  });
  return !signal.aborted;
}
