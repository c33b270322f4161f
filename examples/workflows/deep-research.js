export const meta = {
  name: 'deep-research',
  description: 'Splits a question, researches each part, and writes one answer',
  phases: [{ title: 'Split' }, { title: 'Research' }, { title: 'Write' }],
};

const PARTS = {
  type: 'object',
  required: ['parts'],
  properties: { parts: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 8 } },
};

const question = args?.question ?? 'Why is the sky blue?';
phase('Split');
const split = await agent(`Split into parts: ${question}`, { schema: PARTS, onFailure: 'throw' });
phase('Research');
const notes = await parallel(split.parts.map((part) => () => agent(`Research ${part}`, { label: part })));
phase('Write');
return agent(`Write the answer to: ${question}\n${notes.filter(Boolean).join('\n')}`);
