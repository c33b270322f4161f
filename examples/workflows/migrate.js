export const meta = {
  name: 'migrate',
  description: 'Migrates many files, a few at a time; says which failed',
};

const files = args?.files ?? ['a.js', 'b.js', 'c.js'];
const done = [];
const waiting = [...files];
const worker = async () => {
  for (let file = waiting.shift(); file !== undefined; file = waiting.shift())
    if ((await agent(`Migrate ${file} to the new interface.`, { label: file })) !== null) done.push(file);
};
await Promise.all([worker(), worker()]);
return { done: done.sort(), failed: files.filter((file) => !done.includes(file)) };
