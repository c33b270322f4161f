export const meta = {
  name: 'continued',
  description: 'One agent writes, others judge, and the writer goes on with what it knows',
};

let text = await agent('Write the announcement.', { label: 'writer' });
for (let round = 1; round <= 3; round++) {
  const verdict = await agent(`Criticize, round ${round}: ${text}`, {
    schema: { type: 'object', required: ['complaints'], properties: { complaints: { type: 'array', items: { type: 'string' } } } },
  });
  if (verdict === null || verdict.complaints.length === 0) break;
  text = await agent(`Write it again. ${verdict.complaints.join(' ')}`, { continue: 'writer' });
}
return text;
