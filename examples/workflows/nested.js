export const meta = { name: 'nested', description: 'Runs two other workflows, one after the other' };

const { done } = await workflow({ scriptPath: args?.migrate ?? './migrate.js' }, { files: ['x.js'] });
const faults = await workflow({ scriptPath: args?.audit ?? './audit.js' }, { files: done ?? [] });
return { done, faults };
