export const meta = { name: 'human-step', description: 'A person decides before it goes on' };

const plan = await agent('Plan the release.');
const answer = await ask(`Go on with this plan? ${plan}`, { choices: ['yes', 'no'] });
if (answer === 'no') return 'stopped by a person';
await notify('The release has begun.');
return agent(`Release as planned: ${plan}`);
