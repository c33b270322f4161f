export const meta = {
  name: 'pipeline-barrier',
  description: 'Items go through two stages by themselves; then one agent sees all',
};

const summaries = await pipeline(
  args?.items ?? ['one', 'two'],
  (item) => agent(`Read ${item}`),
  (text, item, index) => agent(`Summarize ${index + 1}: ${text}`, { label: item }),
);
return agent(`Compare ${summaries.filter(Boolean).join(' / ')}`);
