export const meta = {
  name: 'judge-panel',
  description: 'Three drafts; three judges; the best draft wins',
  phases: [{ title: 'Draft' }, { title: 'Judge' }],
};

const SCORES = {
  type: 'object',
  required: ['best'],
  properties: { best: { type: 'integer', minimum: 0, maximum: 2 } },
};

phase('Draft');
const drafts = await parallel(
  ['short', 'thorough', 'unusual'].map((style) => () => agent(`Draft ${style}: ${args?.task ?? 'a plan'}`)),
);
phase('Judge');
const shown = drafts.map((draft, index) => `${index}: ${draft}`).join('\n');
const votes = await parallel(
  ['user', 'engineer', 'owner'].map(
    (role) => () => agent(`Judge as ${role}, which is best?\n${shown}`, { schema: SCORES }),
  ),
);
const counts = drafts.map((_, index) => votes.filter((vote) => vote?.best === index).length);
return drafts[counts.indexOf(Math.max(...counts))];
