export const meta = { name: 'budget-guard', description: 'Goes on while a tenth of its budget is left' };

const results = [];
while (results.length < 10 && budget.remaining() > (budget.total ?? 0) / 10) {
  const part = await agent(`Improve, step ${results.length + 1}.`, { budget: 2000 });
  if (part === null) break;
  results.push(part);
}
log(`spent ${budget.spent()} tokens`);
return results.length;
