export const meta = { name: 'staggered', description: 'Starts its agents one after the other, and looks again later' };

const first = await parallel(
  [0, 1, 2].map((n) => async () => {
    await sleep(n * 0.01);
    return agent(`Look at part ${n}`);
  }),
);
await until(Date.now() + 20);
return [...first, await agent('Look again')];
