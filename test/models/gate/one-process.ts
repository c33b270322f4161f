import type { Gate } from '../../../src/models/gate/gate.ts';
import { openModel } from '../../../src/models/providers.ts';
import { ask } from '../protocols.ts';

/** A process that sends so many requests through a gate of its own, and prints how they ended: `node one-process.ts URL COUNT`. */
const [, , baseURL = '', count = '1'] = process.argv;
const gates = new Map<string, Gate>();
const model = await openModel('near/m', {
  ...{ providers: { near: { type: 'openai-compatible', baseURL } }, env: {}, gates },
});
const outcomes = await Promise.all(
  Array.from({ length: Number(count) }, () => model.stream({ ...ask(), tools: [] }, () => undefined)),
);
const failed = outcomes.filter(({ type }) => type !== 'answer').length;
console.log(JSON.stringify({ answered: outcomes.length - failed, failed, learnt: model.gate?.learnt }));
