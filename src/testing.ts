/** Tests of a program's own agents (`coppice/testing`): a scripted model, a ledger in memory, a clock that passes at once. See docs/testing-agents.md. */

import * as z from 'zod';
import { type CoppiceOptions, OPTIONS_OF_COPPICE } from './library/coppice-options.ts';
import { type Coppice, openOn } from './library/open-coppice.ts';
import { FakeClock } from './library/testing/fake-clock.ts';
import type { ModelRequest } from './models/model.ts';
import { createScriptedModel } from './models/scripted/scripted-model.ts';
import type { ScriptedRules } from './models/scripted/scripted-rules.ts';
import { given } from './records/text/json-fields.ts';
import { checkGiven } from './settings/check-settings.ts';
import { openEmptyStore } from './store/sqlite/sqlite-store.ts';

export { type CaseOptions, recordRun, replayRun } from './library/testing/cases/program-cases.ts';
export type { RecordedCase } from './library/testing/cases/recorded-case.ts';
export type { Divergence, Replayed } from './library/testing/cases/replay-case.ts';
export { type ExpectedAgent, expectTree } from './library/testing/expect-tree.ts';
export type { ScriptedRules } from './models/scripted/scripted-rules.ts';
export { createScriptedModel, FakeClock };

/** Options of `openCoppice`; those that a test need not give have defaults. */
export interface TestOptions extends Partial<Omit<CoppiceOptions, 'database'>> {
  /** The rules of the scripted model, which all agents have (docs/scripted-model.md). */
  readonly rules?: ScriptedRules['rules'];
  readonly clock?: FakeClock;
}

/** An open coppice, and what its scripted model was asked. */
export interface TestCoppice extends Coppice {
  readonly requests: readonly ModelRequest[];
}

const OPTIONS = z.object({
  clock: z.custom((one) => one instanceof FakeClock, 'must be a new FakeClock()').optional(),
  rules: z.array(z.unknown()).optional(),
  models: z.record(z.string(), z.unknown()).optional(),
});
// Its ledger is in memory.
const KNOWN = ['rules', 'clock', ...OPTIONS_OF_COPPICE.filter((name) => name !== 'database')];

/** Opens a coppice on a ledger in memory, which its `close` forgets. */
export async function openTest(said: TestOptions = {}): Promise<TestCoppice> {
  checkGiven(OPTIONS, said, 'openTest', KNOWN);
  const { rules, clock, ...options } = said;
  const requests: ModelRequest[] = [];
  const model = createScriptedModel({ rules: rules ?? [{ say: 'done' }] }, 'openTest');
  const stream: typeof model.stream = (request, ...more) => {
    requests.push(request);
    return model.stream(request, ...more);
  };
  const coppice = await openOn(
    {
      ...{ database: 'memory.db', model: 'test', builtInTools: [], ...given(options) },
      models: { test: { ...model, stream }, ...options.models },
    },
    { store: openEmptyStore('memory.db'), ...(clock && { clock }) },
  );
  return { ...coppice, requests };
}
