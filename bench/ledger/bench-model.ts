import { createScriptedModel } from '../../src/models/scripted/scripted-model.ts';

export const BENCH_MODEL = 'scripted/bench';

/** Answers every letter with one sentence, at once. */
export function benchModel() {
  return createScriptedModel({ rules: [{ say: 'I have read it.' }] }, 'bench');
}
