export const meta = { name: 'loop-until-dry', description: 'Looks for more until two rounds find nothing new' };

const FOUND = {
  type: 'object',
  required: ['found'],
  properties: { found: { type: 'array', items: { type: 'string' } } },
};
const known = new Set();
for (let round = 1, dry = 0; dry < 2 && round <= 20; round++) {
  const result = await agent(`Hunt, round ${round}. Known: ${[...known].join(', ') || 'nothing'}`, { schema: FOUND });
  if (result === null) break;
  const fresh = result.found.filter((one) => !known.has(one));
  for (const one of fresh) known.add(one);
  dry = fresh.length === 0 ? dry + 1 : 0;
}
return [...known];
