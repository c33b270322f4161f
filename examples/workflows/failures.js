export const meta = { name: 'failures', description: 'Tries a failed task once more, with a word on what went wrong' };

const task = args?.task ?? 'Count the files';
const first = await agent(task, { label: 'count' });
if (first !== null) return first;
const [failure] = agent.failures();
return agent(`Again: ${task}. The first try failed: ${failure.reason}`);
