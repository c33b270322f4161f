export const meta = {
  name: 'forked-context',
  description: 'Started by an agent: three agents that know its conversation look at it from different sides',
};

const sides = ['security', 'cost', 'users'];
const views = await parallel(
  sides.map((side) => () => agent(`What did we forget about ${side}?`, { context: 'fork', label: side })),
);
return views.filter(Boolean).join(' ');
