import { fdatasyncSync, openSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Tool } from '../../src/records/tool.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import type { StepKind } from './kill-points.ts';
import type { Killer } from './killer.ts';

/** `count` runs alone, `tally` beside other calls; neither is idempotent. */
export const COUNTING: ReadonlySet<string> = new Set(['count', 'tally']);
/** Delay from a call's effect to its outcome, so that other agents go on meanwhile. */
const AFTER_MS = 2;

/** Tools that append `AGENT CALL` to `file` whenever they run: an effect that cannot be undone. */
export function countingTools(
  file: string,
  killer: Killer,
  newest: ReadonlyMap<string, StepKind>,
): readonly Tool[] {
  const counts = openSync(file, 'a');
  return [...COUNTING].map(
    (name) =>
      defineTool({
        name,
        description: 'Counts once.',
        input: z.strictObject({ id: z.string() }),
        side_by_side: name === 'tally',
        async run({ id }, { agent }) {
          const hits = [newest.get(agent.id) ?? 'answer'];
          if (killer.reached('before-effect', hits)) killer.die();
          writeSync(counts, `${agent.id} ${id}\n`);
          fdatasyncSync(counts);
          await sleep(AFTER_MS);
          if (killer.reached('in-call', hits)) killer.die();
          return 'counted';
        },
      }) as Tool,
  );
}
